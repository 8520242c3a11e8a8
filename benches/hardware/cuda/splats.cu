// Times of the kernels of the software renderer on a CUDA GPU, as rows for `quadrille figures --correlate`.
//
//   nvcc -O3 -std=c++17 -arch=native splats.cu -o splats
//   ./splats SCENE.ply CAMERAS.json --scene NAME [--view N] [--size WxH] [--repeats N] [--picture OUT.ppm]
//
// Draws one view of a 3D Gaussian-splatting scene with the kernels that the emulator's method compute-aabb models:
// preprocess (a thread per splat), scan, duplicate, sort, ranges, raster (a block of 256 threads per tile of 16x16
// pixels). The splats' boxes are squares of three standard deviations, a pixel ends at a transmittance of 1e-4, and
// the arithmetic is that of single precision without fast mathematics.
//
// Prints CSV: a header, then one row per measured number. Times are medians over the repeats in milliseconds, each with
// the launch of the kernel; the L2 is flushed ahead of each frame, and kernels of a frame follow each other without a
// flush, as in a running renderer. Counts do not depend on the machine.

#include "common.cuh"

#include <cub/cub.cuh>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kTile = 16;                 // pixels along the side of a tile
constexpr int kBlock = kTile * kTile;     // threads of a raster block, and entries of a round
constexpr float kNear = 0.2f;             // view depth up to which splats are left out
constexpr float kLowPass = 0.3f;          // px^2, added to both variances on the screen
constexpr float kAlphaCut = 1.0f / 255.0f;
constexpr float kAlphaCap = 0.99f;
constexpr float kStop = 1e-4f;            // transmittance below which a pixel ends

// ---- the scene -------------------------------------------------------------------------------------------------------

struct Scene {
    size_t splats = 0;
    int coefficients = 1;        // of the spherical harmonics, per channel
    std::vector<float> means;    // 3 per splat
    std::vector<float> scales;   // 3, activated
    std::vector<float> rotations;  // 4 (w, x, y, z), of length 1
    std::vector<float> opacities;  // activated
    std::vector<float> harmonics;  // coefficients x 3 per splat
};

// Reads a little-endian PLY file of 3DGS whose properties are all float.
Scene read_scene(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) fail(path + ": cannot be read");
    std::map<std::string, size_t> column;
    std::string line;
    size_t rows = 0;
    bool is_little_endian = false;
    while (std::getline(in, line) && line != "end_header") {
        std::istringstream words(line);
        std::string first, second, third;
        words >> first >> second >> third;
        if (first == "format") is_little_endian = second == "binary_little_endian";
        if (first == "element" && second == "vertex") rows = std::strtoull(third.c_str(), nullptr, 10);
        if (first == "property" && second != "float") fail(path + ": expected float properties, found " + line);
        if (first == "property") column.emplace(third, column.size());
    }
    if (!is_little_endian || rows == 0) fail(path + ": expected a PLY file of splats, binary_little_endian");
    const auto at = [&](const std::string& name) {
        const auto found = column.find(name);
        if (found == column.end()) fail(path + ": expected a property " + name);
        return found->second;
    };
    int rest = 0;
    while (column.count("f_rest_" + std::to_string(rest))) ++rest;
    Scene scene;
    scene.coefficients = 1 + rest / 3;
    const size_t x = at("x"), dc = at("f_dc_0"), opacity = at("opacity"), scale = at("scale_0"), rot = at("rot_0");
    std::vector<float> row(column.size());
    for (size_t n = 0; n < rows; ++n) {
        if (!in.read(reinterpret_cast<char*>(row.data()), row.size() * sizeof(float))) {
            fail(path + ": expected " + std::to_string(rows) + " splats, found " + std::to_string(n));
        }
        float length = 0.0f;
        for (int i = 0; i < 4; ++i) length += row[rot + i] * row[rot + i];
        length = std::sqrt(length);
        if (!(length > 0.0f)) continue;
        for (int i = 0; i < 3; ++i) {
            scene.means.push_back(row[x + i]);
            scene.scales.push_back(std::exp(row[scale + i]));
        }
        for (int i = 0; i < 4; ++i) scene.rotations.push_back(row[rot + i] / length);
        scene.opacities.push_back(1.0f / (1.0f + std::exp(-row[opacity])));
        for (int k = 0; k < scene.coefficients; ++k) {
            for (int channel = 0; channel < 3; ++channel) {
                const size_t of_rest = k == 0 ? 0 : at("f_rest_0") + channel * (scene.coefficients - 1) + k - 1;
                scene.harmonics.push_back(k == 0 ? row[dc + channel] : row[of_rest]);
            }
        }
    }
    scene.splats = scene.opacities.size();
    return scene;
}

// ---- the camera ------------------------------------------------------------------------------------------------------

struct Camera {
    int width = 0, height = 0;
    float focal[2] = {};
    float rotation[9] = {};     // rows of the world-to-view rotation
    float translation[3] = {};
    float centre[3] = {};       // in the world
    std::string name;
};

// The text behind `"key":` from `from` on.
const char* value_of(const std::string& text, size_t from, const char* key) {
    const size_t at = text.find("\"" + std::string(key) + "\"", from);
    if (at == std::string::npos) fail(std::string("the camera file: expected a key ") + key);
    return text.c_str() + text.find(':', at) + 1;
}

std::vector<double> numbers_of(const std::string& text, size_t from, const char* key, size_t count) {
    const char* at = value_of(text, from, key);
    std::vector<double> found;
    while (found.size() < count) {
        while (*at && !std::strchr("+-.0123456789", *at)) ++at;
        char* end = nullptr;
        found.push_back(std::strtod(at, &end));
        if (end == at) fail(std::string("the camera file: expected numbers in ") + key);
        at = end;
    }
    return found;
}

// Reads view `view` of a cameras.json of 3DGS, whose pictures get a size of `size` pixels unless it is 0.
Camera read_camera(const std::string& path, int view, const int (&size)[2]) {
    std::ifstream in(path);
    std::stringstream all;
    all << in.rdbuf();
    const std::string text = all.str();
    size_t at = text.find('{');
    for (int n = 0; n < view && at != std::string::npos; ++n) at = text.find('{', at + 1);
    if (at == std::string::npos) fail(path + ": expected a view " + std::to_string(view));
    Camera camera;
    const char* name = value_of(text, at, "img_name");
    name = std::strchr(name, '"') + 1;
    camera.name.assign(name, std::strchr(name, '"'));
    const double width = numbers_of(text, at, "width", 1)[0], height = numbers_of(text, at, "height", 1)[0];
    camera.width = size[0] ? size[0] : int(width);
    camera.height = size[1] ? size[1] : int(height);
    camera.focal[0] = float(numbers_of(text, at, "fx", 1)[0] * camera.width / width);
    camera.focal[1] = float(numbers_of(text, at, "fy", 1)[0] * camera.height / height);
    const auto position = numbers_of(text, at, "position", 3), rotation = numbers_of(text, at, "rotation", 9);
    for (int row = 0; row < 3; ++row) {
        double moved = 0.0;
        for (int i = 0; i < 3; ++i) {
            camera.rotation[3 * row + i] = float(rotation[3 * i + row]);
            moved -= rotation[3 * i + row] * position[i];
        }
        camera.translation[row] = float(moved);
        camera.centre[row] = float(position[row]);
    }
    return camera;
}

// ---- the kernels -----------------------------------------------------------------------------------------------------

struct Inputs {
    int splats, coefficients;
    const float3* means;
    const float3* scales;
    const float4* rotations;
    const float* opacities;
    const float* harmonics;
};

struct Projected {
    float* covariances;   // 6 per splat, in the world
    float* depths;
    int* radii;           // 0 of splats that are left out
    float2* centres;
    float4* conics;       // inverse covariance on the screen, and opacity
    float* colours;       // 3 per splat
    bool* clamped;        // 3 per splat
    uint32_t* tiles;      // tiles that the square touches
};

struct View {
    int width, height, columns, rows;
    float focal_x, focal_y, limit_x, limit_y;
    float rotation[9];
    float3 translation, centre;
};

__device__ void box_of(float2 centre, int radius, const View& view, int4* box) {
    const auto clamped = [](float tile, int count) { return min(count, max(0, int(tile))); };
    box->x = clamped((centre.x - radius) / kTile, view.columns);
    box->y = clamped((centre.y - radius) / kTile, view.rows);
    box->z = clamped((centre.x + radius + kTile - 1) / kTile, view.columns);
    box->w = clamped((centre.y + radius + kTile - 1) / kTile, view.rows);
}

// Colour of spherical harmonics in the direction of a splat.
__device__ float3 colour_of(const Inputs& in, int splat, float3 direction) {
    const float inverse = rsqrtf(direction.x * direction.x + direction.y * direction.y + direction.z * direction.z);
    const float x = direction.x * inverse, y = direction.y * inverse, z = direction.z * inverse;
    const float xx = x * x, yy = y * y, zz = z * z;
    const float basis[16] = {
        0.28209479f,
        -0.48860251f * y,
        0.48860251f * z,
        -0.48860251f * x,
        1.09254843f * x * y,
        -1.09254843f * y * z,
        0.31539157f * (2.0f * zz - xx - yy),
        -1.09254843f * x * z,
        0.54627422f * (xx - yy),
        -0.59004359f * y * (3.0f * xx - yy),
        2.89061144f * x * y * z,
        -0.45704580f * y * (4.0f * zz - xx - yy),
        0.37317633f * z * (2.0f * zz - 3.0f * xx - 3.0f * yy),
        -0.45704580f * x * (4.0f * zz - xx - yy),
        1.44530572f * z * (xx - yy),
        -0.59004359f * x * (xx - 3.0f * yy),
    };
    const float3* sh = reinterpret_cast<const float3*>(in.harmonics) + size_t(splat) * in.coefficients;
    float3 sum = {0.5f, 0.5f, 0.5f};
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        if (k < in.coefficients) {
            const float3 one = sh[k];
            sum.x += basis[k] * one.x;
            sum.y += basis[k] * one.y;
            sum.z += basis[k] * one.z;
        }
    }
    return sum;
}

__global__ void preprocess(Inputs in, View view, Projected out) {
    const int splat = blockIdx.x * blockDim.x + threadIdx.x;
    if (splat >= in.splats) return;
    out.radii[splat] = 0;
    out.tiles[splat] = 0;
    const float3 mean = in.means[splat];
    const float* r = view.rotation;
    const float3 seen = {
        r[0] * mean.x + r[1] * mean.y + r[2] * mean.z + view.translation.x,
        r[3] * mean.x + r[4] * mean.y + r[5] * mean.z + view.translation.y,
        r[6] * mean.x + r[7] * mean.y + r[8] * mean.z + view.translation.z,
    };
    if (seen.z <= kNear) return;
    const float3 s = in.scales[splat];
    const float4 q = in.rotations[splat];
    // The axes of the splat, scaled: columns of R S.
    const float m[9] = {
        s.x * (1.0f - 2.0f * (q.z * q.z + q.w * q.w)), s.y * 2.0f * (q.y * q.z - q.x * q.w),
        s.z * 2.0f * (q.y * q.w + q.x * q.z),          s.x * 2.0f * (q.y * q.z + q.x * q.w),
        s.y * (1.0f - 2.0f * (q.y * q.y + q.w * q.w)), s.z * 2.0f * (q.z * q.w - q.x * q.y),
        s.x * 2.0f * (q.y * q.w - q.x * q.z),          s.y * 2.0f * (q.z * q.w + q.x * q.y),
        s.z * (1.0f - 2.0f * (q.y * q.y + q.z * q.z)),
    };
    const auto row_product = [&](int a, int b) {
        return m[3 * a] * m[3 * b] + m[3 * a + 1] * m[3 * b + 1] + m[3 * a + 2] * m[3 * b + 2];
    };
    const float sigma[6] = {row_product(0, 0), row_product(0, 1), row_product(0, 2),
                            row_product(1, 1), row_product(1, 2), row_product(2, 2)};
    for (int i = 0; i < 6; ++i) out.covariances[6 * size_t(splat) + i] = sigma[i];
    const float tan_x = fminf(view.limit_x, fmaxf(-view.limit_x, seen.x / seen.z));
    const float tan_y = fminf(view.limit_y, fmaxf(-view.limit_y, seen.y / seen.z));
    const float jx = view.focal_x / seen.z, jy = view.focal_y / seen.z;
    // Rows of J W.
    float t[2][3];
    for (int i = 0; i < 3; ++i) {
        t[0][i] = jx * (r[i] - tan_x * r[6 + i]);
        t[1][i] = jy * (r[3 + i] - tan_y * r[6 + i]);
    }
    const auto form = [&](const float* a, const float* b) {
        return a[0] * (sigma[0] * b[0] + sigma[1] * b[1] + sigma[2] * b[2]) +
               a[1] * (sigma[1] * b[0] + sigma[3] * b[1] + sigma[4] * b[2]) +
               a[2] * (sigma[2] * b[0] + sigma[4] * b[1] + sigma[5] * b[2]);
    };
    const float xx = form(t[0], t[0]) + kLowPass, xy = form(t[0], t[1]), yy = form(t[1], t[1]) + kLowPass;
    const float determinant = xx * yy - xy * xy;
    if (determinant <= 0.0f) return;
    const float middle = 0.5f * (xx + yy);
    const float largest = middle + sqrtf(fmaxf(0.1f, middle * middle - determinant));
    const int radius = int(ceilf(3.0f * sqrtf(largest)));
    const float2 centre = {view.focal_x * seen.x / seen.z + 0.5f * view.width - 0.5f,
                           view.focal_y * seen.y / seen.z + 0.5f * view.height - 0.5f};
    int4 box;
    box_of(centre, radius, view, &box);
    if (box.z <= box.x || box.w <= box.y) return;
    const float3 direction = {mean.x - view.centre.x, mean.y - view.centre.y, mean.z - view.centre.z};
    const float3 colour = colour_of(in, splat, direction);
    const float channels[3] = {colour.x, colour.y, colour.z};
    for (int i = 0; i < 3; ++i) {
        out.clamped[3 * size_t(splat) + i] = channels[i] < 0.0f;
        out.colours[3 * size_t(splat) + i] = fmaxf(0.0f, channels[i]);
    }
    out.depths[splat] = seen.z;
    out.radii[splat] = radius;
    out.centres[splat] = centre;
    out.conics[splat] = {yy / determinant, -xy / determinant, xx / determinant, in.opacities[splat]};
    out.tiles[splat] = uint32_t(box.z - box.x) * uint32_t(box.w - box.y);
}

__global__ void duplicate(int splats, View view, Projected in, const uint32_t* ends, uint64_t* keys, uint32_t* values) {
    const int splat = blockIdx.x * blockDim.x + threadIdx.x;
    if (splat >= splats || in.radii[splat] == 0) return;
    uint32_t at = splat == 0 ? 0 : ends[splat - 1];
    int4 box;
    box_of(in.centres[splat], in.radii[splat], view, &box);
    const uint64_t depth = __float_as_uint(in.depths[splat]);
    for (int y = box.y; y < box.w; ++y) {
        for (int x = box.x; x < box.z; ++x, ++at) {
            keys[at] = uint64_t(y * view.columns + x) << 32 | depth;
            values[at] = splat;
        }
    }
}

__global__ void ranges(int pairs, const uint64_t* keys, uint2* of_tiles) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= pairs) return;
    const uint32_t tile = keys[at] >> 32;
    const uint32_t before = at == 0 ? ~0u : uint32_t(keys[at - 1] >> 32);
    if (tile != before) {
        of_tiles[tile].x = at;
        if (at > 0) of_tiles[before].y = at;
    }
    if (at == pairs - 1) of_tiles[tile].y = pairs;
}

// With `Counts`, adds the number of blended fragments to `blended`.
template <bool Counts>
__global__ void __launch_bounds__(kBlock) raster(View view, Projected in, const uint2* of_tiles, const uint32_t* values,
                                                 float* picture, float* transmittances, uint32_t* last_entries,
                                                 unsigned long long* blended) {
    __shared__ uint32_t ids[kBlock];
    __shared__ float2 centres[kBlock];
    __shared__ float4 conics[kBlock];
    const int thread = threadIdx.y * kTile + threadIdx.x;
    const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
    const bool is_inside = x < view.width && y < view.height;
    const uint2 range = of_tiles[blockIdx.y * view.columns + blockIdx.x];
    bool is_done = !is_inside;
    float transmittance = 1.0f;
    float colour[3] = {};
    uint32_t visited = 0, last = 0;
    unsigned long long count = 0;
    for (uint32_t first = range.x; first < range.y; first += kBlock) {
        if (__syncthreads_count(is_done) == kBlock) break;
        if (first + thread < range.y) {
            const uint32_t id = values[first + thread];
            ids[thread] = id;
            centres[thread] = in.centres[id];
            conics[thread] = in.conics[id];
        }
        __syncthreads();
        const int entries = min(uint32_t(kBlock), range.y - first);
        for (int entry = 0; !is_done && entry < entries; ++entry) {
            ++visited;
            const float2 centre = centres[entry];
            const float4 conic = conics[entry];
            const float dx = centre.x - x, dy = centre.y - y;
            const float power = -0.5f * (conic.x * dx * dx + conic.z * dy * dy) - conic.y * dx * dy;
            if (power > 0.0f) continue;
            const float alpha = fminf(kAlphaCap, conic.w * expf(power));
            if (alpha < kAlphaCut) continue;
            const float left = transmittance * (1.0f - alpha);
            if (left < kStop) {
                is_done = true;
                continue;
            }
            const float weight = alpha * transmittance;
            for (int i = 0; i < 3; ++i) colour[i] += in.colours[3 * size_t(ids[entry]) + i] * weight;
            transmittance = left;
            last = visited;
            if (Counts) ++count;
        }
    }
    if (is_inside) {
        const size_t pixel = size_t(y) * view.width + x;
        transmittances[pixel] = transmittance;
        last_entries[pixel] = last;
        for (int i = 0; i < 3; ++i) picture[i * size_t(view.width) * view.height + pixel] = colour[i];
    }
    if (Counts) atomicAdd(blended, count);
}

// ---- the frame -------------------------------------------------------------------------------------------------------

// Kernels in order, with an event ahead of each and one behind the last.
const char* const kKernels[] = {"preprocess", "scan", "duplicate", "sort", "ranges", "raster"};
constexpr int kKernelCount = 6;

uint32_t blocks_of(size_t threads) { return uint32_t((threads + 255) / 256); }

struct Frame {
    const Scene& scene;
    View view{};
    Buffer<float> means, scales, rotations, opacities, harmonics;
    Buffer<float> covariances, depths, conics, centres, colours, picture, transmittances;
    Buffer<int> radii;
    Buffer<bool> clamped;
    Buffer<uint32_t> tiles, ends, last_entries;
    Buffer<uint2> of_tiles;
    Buffer<char> scan_space;
    size_t scan_bytes = 0;
    // Room for the pairs, which is known after the first scan.
    uint32_t pairs = 0;
    Buffer<uint64_t>*keys = nullptr, *sorted_keys = nullptr;
    Buffer<uint32_t>*values = nullptr, *sorted_values = nullptr;
    Buffer<char>* sort_space = nullptr;
    size_t sort_bytes = 0;
    int key_bits = 0;
    uint32_t* readback = nullptr;   // pinned

    static size_t pixels(const Camera& camera) { return size_t(camera.width) * camera.height; }
    static size_t tiles_of(const Camera& camera) {
        return size_t((camera.width + kTile - 1) / kTile) * ((camera.height + kTile - 1) / kTile);
    }

    static size_t scan_size(size_t splats) {
        size_t bytes = 0;
        CUDA(cub::DeviceScan::InclusiveSum(nullptr, bytes, (uint32_t*)nullptr, (uint32_t*)nullptr, int(splats)));
        return bytes;
    }

    Frame(const Scene& from, const Camera& camera)
        : scene(from), means(from.means), scales(from.scales), rotations(from.rotations), opacities(from.opacities),
          harmonics(from.harmonics), covariances(6 * from.splats), depths(from.splats), conics(4 * from.splats),
          centres(2 * from.splats), colours(3 * from.splats), picture(3 * pixels(camera)),
          transmittances(pixels(camera)), radii(from.splats), clamped(3 * from.splats), tiles(from.splats),
          ends(from.splats), last_entries(pixels(camera)), of_tiles(tiles_of(camera)),
          scan_space(scan_size(from.splats)), scan_bytes(scan_size(from.splats)) {
        view.width = camera.width;
        view.height = camera.height;
        view.columns = (camera.width + kTile - 1) / kTile;
        view.rows = (camera.height + kTile - 1) / kTile;
        view.focal_x = camera.focal[0];
        view.focal_y = camera.focal[1];
        view.limit_x = 1.3f * 0.5f * camera.width / camera.focal[0];
        view.limit_y = 1.3f * 0.5f * camera.height / camera.focal[1];
        std::copy(camera.rotation, camera.rotation + 9, view.rotation);
        view.translation = {camera.translation[0], camera.translation[1], camera.translation[2]};
        view.centre = {camera.centre[0], camera.centre[1], camera.centre[2]};
        key_bits = 32;
        while (size_t(1) << (key_bits - 32) < tiles_of(camera)) ++key_bits;
        CUDA(cudaMallocHost(&readback, sizeof(uint32_t)));
    }

    Projected projected() {
        return {covariances.data,
                depths.data,
                radii.data,
                reinterpret_cast<float2*>(centres.data),
                reinterpret_cast<float4*>(conics.data),
                colours.data,
                clamped.data,
                tiles.data};
    }

    // Draws the frame and records the events.
    template <bool Counts>
    void draw(cudaEvent_t* events, unsigned long long* blended) {
        const int splats = int(scene.splats);
        const Inputs in = {splats,
                           scene.coefficients,
                           reinterpret_cast<const float3*>(means.data),
                           reinterpret_cast<const float3*>(scales.data),
                           reinterpret_cast<const float4*>(rotations.data),
                           opacities.data,
                           harmonics.data};
        CUDA(cudaEventRecord(events[0]));
        preprocess<<<blocks_of(splats), 256>>>(in, view, projected());
        CUDA(cudaEventRecord(events[1]));
        CUDA(cub::DeviceScan::InclusiveSum(scan_space.data, scan_bytes, tiles.data, ends.data, splats));
        // The host reads the number of pairs to launch the kernels on them.
        CUDA(cudaMemcpyAsync(readback, ends.data + splats - 1, sizeof(uint32_t), cudaMemcpyDeviceToHost));
        CUDA(cudaStreamSynchronize(0));
        reserve(*readback);
        CUDA(cudaEventRecord(events[2]));
        duplicate<<<blocks_of(splats), 256>>>(splats, view, projected(), ends.data, keys->data, values->data);
        CUDA(cudaEventRecord(events[3]));
        CUDA(cub::DeviceRadixSort::SortPairs(sort_space->data, sort_bytes, keys->data, sorted_keys->data, values->data,
                                             sorted_values->data, int(pairs), 0, key_bits));
        CUDA(cudaEventRecord(events[4]));
        const dim3 grid(view.columns, view.rows);
        CUDA(cudaMemsetAsync(of_tiles.data, 0, size_t(grid.x) * grid.y * sizeof(uint2)));
        if (pairs > 0) ranges<<<blocks_of(pairs), 256>>>(int(pairs), sorted_keys->data, of_tiles.data);
        CUDA(cudaEventRecord(events[5]));
        raster<Counts><<<grid, dim3(kTile, kTile)>>>(view, projected(), of_tiles.data, sorted_values->data,
                                                     picture.data, transmittances.data, last_entries.data, blended);
        CUDA(cudaEventRecord(events[6]));
        CUDA(cudaGetLastError());
    }

    // Takes room for this number of pairs; it is the same in every frame.
    void reserve(uint32_t count) {
        if (keys && count == pairs) return;
        if (keys) fail("the number of pairs changed between two frames");
        pairs = count;
        keys = new Buffer<uint64_t>(pairs);
        sorted_keys = new Buffer<uint64_t>(pairs);
        values = new Buffer<uint32_t>(pairs);
        sorted_values = new Buffer<uint32_t>(pairs);
        CUDA(cub::DeviceRadixSort::SortPairs(nullptr, sort_bytes, keys->data, sorted_keys->data, values->data,
                                             sorted_values->data, int(pairs), 0, key_bits));
        sort_space = new Buffer<char>(sort_bytes);
    }

    ~Frame() {
        delete keys;
        delete sorted_keys;
        delete values;
        delete sorted_values;
        delete sort_space;
        cudaFreeHost(readback);
    }
};

void write_picture(const std::string& path, const Camera& camera, const Buffer<float>& picture) {
    const size_t pixels = Frame::pixels(camera);
    std::vector<float> planes(3 * pixels);
    CUDA(cudaMemcpy(planes.data(), picture.data, planes.size() * sizeof(float), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out << "P6\n" << camera.width << " " << camera.height << "\n255\n";
    for (size_t pixel = 0; pixel < pixels; ++pixel) {
        for (int i = 0; i < 3; ++i) {
            const float value = std::min(1.0f, std::max(0.0f, planes[i * pixels + pixel]));
            out.put(char(std::lround(value * 255.0f)));
        }
    }
    if (!out.flush()) fail(path + ": cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> files;
    std::map<std::string, std::string> flags;
    for (int i = 1; i < argc; ++i) {
        if (std::strncmp(argv[i], "--", 2) != 0) {
            files.push_back(argv[i]);
        } else if (i + 1 < argc) {
            flags[argv[i]] = argv[i + 1];
            ++i;
        }
    }
    for (const auto& flag : flags) {
        const char* known[] = {"--scene", "--view", "--size", "--repeats", "--picture", "--header"};
        if (std::none_of(known, known + 6, [&](const char* name) { return flag.first == name; })) {
            fail("unknown flag " + flag.first);
        }
    }
    if (files.size() != 2 || !flags.count("--scene")) {
        fail("usage: splats SCENE.ply CAMERAS.json --scene NAME [--view N] [--size WxH] [--repeats N] "
             "[--picture OUT.ppm] [--header yes|no]");
    }
    const auto number = [&](const char* flag, int otherwise) {
        return flags.count(flag) ? std::atoi(flags[flag].c_str()) : otherwise;
    };
    int size[2] = {};
    if (flags.count("--size") && std::sscanf(flags["--size"].c_str(), "%dx%d", &size[0], &size[1]) != 2) {
        fail("--size: expected WxH, found " + flags["--size"]);
    }
    const int repeats = std::max(1, number("--repeats", 50));
    const Scene scene = read_scene(files[0]);
    const Camera camera = read_camera(files[1], number("--view", 0), size);

    cudaDeviceProp device{};
    CUDA(cudaGetDeviceProperties(&device, 0));
    Frame frame(scene, camera);
    cudaEvent_t events[kKernelCount + 1];
    for (auto& event : events) CUDA(cudaEventCreate(&event));
    Buffer<unsigned long long> blended(1);
    CUDA(cudaMemset(blended.data, 0, sizeof(unsigned long long)));
    frame.draw<true>(events, blended.data);
    unsigned long long fragments = 0;
    CUDA(cudaMemcpy(&fragments, blended.data, sizeof fragments, cudaMemcpyDeviceToHost));

    // Larger than any L2 of today, twice.
    const size_t flush_bytes = std::max<size_t>(size_t(512) << 20, 4 * size_t(device.l2CacheSize));
    Buffer<char> flush(flush_bytes);
    std::vector<double> times[kKernelCount + 1];
    for (int repeat = -5; repeat < repeats; ++repeat) {
        CUDA(cudaMemsetAsync(flush.data, repeat & 255, flush_bytes));
        frame.draw<false>(events, nullptr);
        CUDA(cudaEventSynchronize(events[kKernelCount]));
        if (repeat < 0) continue;   // warms up
        for (int kernel = 0; kernel <= kKernelCount; ++kernel) {
            float ms = 0.0f;
            const bool is_whole = kernel == kKernelCount;
            CUDA(cudaEventElapsedTime(&ms, events[is_whole ? 0 : kernel], events[is_whole ? kernel : kernel + 1]));
            times[kernel].push_back(ms);
        }
    }
    if (flags.count("--picture")) write_picture(flags["--picture"], camera, frame.picture);

    if (!flags.count("--header") || flags["--header"] != "no") {
        std::puts(kHeader);
    }
    const auto row = [&](const char* item, double value, const char* unit) {
        std::printf("%s,%s,%s,%d,%d,%.9g,%s,%s\n", item, flags["--scene"].c_str(), camera.name.c_str(), camera.width,
                    camera.height, value, unit, device.name);
    };
    for (int kernel = 0; kernel < kKernelCount; ++kernel) row(kKernels[kernel], median(times[kernel]), "ms");
    row("frame", median(times[kKernelCount]), "ms");
    row("pairs", frame.pairs, "count");
    row("fragments", double(fragments), "count");
    return 0;
}
