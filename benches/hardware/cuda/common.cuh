// What the programs of this folder share: errors, memory of the device, medians and rows.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

[[noreturn]] inline void fail(const std::string& text) {
    std::fprintf(stderr, "error: %s\n", text.c_str());
    std::exit(2);
}

inline void check(cudaError_t error, const char* call, int line) {
    if (error != cudaSuccess) {
        fail(std::string(call) + " at line " + std::to_string(line) + ": " + cudaGetErrorString(error));
    }
}
#define CUDA(call) check((call), #call, __LINE__)

// Memory of the device, freed with the value.
template <typename T>
struct Buffer {
    T* data = nullptr;
    explicit Buffer(size_t count) { CUDA(cudaMalloc(&data, std::max<size_t>(count, 1) * sizeof(T))); }
    explicit Buffer(const std::vector<T>& from) : Buffer(from.size()) {
        CUDA(cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { cudaFree(data); }
};

inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const size_t half = values.size() / 2;
    return values.size() % 2 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

// The columns of all rows.
constexpr const char* kHeader = "item,scene,view,width,height,value,unit,device";
