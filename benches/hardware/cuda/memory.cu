// Bandwidth and latencies of the memory of a CUDA GPU, as rows for `quadrille figures --correlate`.
//
//   nvcc -O3 -std=c++17 -arch=native memory.cu -o memory
//   ./memory
//
// The bandwidth is that of a copy within the device, counting bytes read and bytes written. A latency is the time of a
// load whose address is the result of the load before it, in a random order over a buffer that the L2 holds, or that is
// many times as large.

#include "common.cuh"

#include <cstdint>
#include <numeric>
#include <random>

namespace {

constexpr size_t kCopyBytes = size_t(1) << 30;
constexpr size_t kLine = 128;                        // bytes between two loads
constexpr size_t kInL2 = size_t(4) << 20;            // bytes
constexpr size_t kBeyondL2 = size_t(1) << 30;        // bytes
constexpr int kLoads = 1 << 16;
constexpr int kRepeats = 9;

// Follows a chain of indices with one thread, past the first-level cache. A first walk over the whole chain brings it
// into the L2, if it fits.
__global__ void chase(const uint32_t* next, uint32_t warm_up, int loads, unsigned long long* nanoseconds,
                      uint32_t* end) {
    uint32_t at = 0;
    for (uint32_t n = 0; n < warm_up; ++n) at = __ldcg(next + at);
    unsigned long long begin, finish;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
    for (int n = 0; n < loads; ++n) at = __ldcg(next + at);
    // The timer must not be read before the last load has come.
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(finish) : "r"(at) : "memory");
    *nanoseconds = finish - begin;
    *end = at;
}

// Nanoseconds of a load in a buffer of this size.
double latency(size_t bytes, bool is_warm) {
    const uint32_t lines = uint32_t(bytes / kLine), step = kLine / sizeof(uint32_t);
    std::vector<uint32_t> order(lines);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin() + 1, order.end(), std::mt19937(1));
    std::vector<uint32_t> next(size_t(lines) * step);
    for (uint32_t n = 0; n < lines; ++n) next[size_t(order[n]) * step] = order[(n + 1) % lines] * step;
    Buffer<uint32_t> chain(next), end(1);
    Buffer<unsigned long long> nanoseconds(1);
    std::vector<double> times;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
        if (!is_warm) {
            Buffer<char> flush(kCopyBytes);
            CUDA(cudaMemset(flush.data, repeat, kCopyBytes));
        }
        chase<<<1, 1>>>(chain.data, is_warm ? lines : 0, kLoads, nanoseconds.data, end.data);
        CUDA(cudaGetLastError());
        unsigned long long time = 0;
        CUDA(cudaMemcpy(&time, nanoseconds.data, sizeof time, cudaMemcpyDeviceToHost));
        times.push_back(double(time) / kLoads);
    }
    return median(times);
}

double bandwidth() {
    Buffer<char> from(kCopyBytes), to(kCopyBytes);
    CUDA(cudaMemset(from.data, 1, kCopyBytes));
    cudaEvent_t begin, finish;
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&finish));
    std::vector<double> rates;
    for (int repeat = 0; repeat < 2 * kRepeats; ++repeat) {
        CUDA(cudaEventRecord(begin));
        CUDA(cudaMemcpyAsync(to.data, from.data, kCopyBytes, cudaMemcpyDeviceToDevice));
        CUDA(cudaEventRecord(finish));
        CUDA(cudaEventSynchronize(finish));
        float ms = 0.0f;
        CUDA(cudaEventElapsedTime(&ms, begin, finish));
        rates.push_back(2.0 * kCopyBytes / (ms * 1e6));
    }
    return median(rates);
}

}  // namespace

int main() {
    cudaDeviceProp device{};
    CUDA(cudaGetDeviceProperties(&device, 0));
    std::puts(kHeader);
    const auto row = [&](const char* item, double value, const char* unit) {
        std::printf("%s,,,1,1,%.6g,%s,%s\n", item, value, unit, device.name);
    };
    row("copy", bandwidth(), "GB/s");
    row("l2-latency", latency(kInL2, true), "ns");
    row("dram-latency", latency(kBeyondL2, false), "ns");
    return 0;
}
