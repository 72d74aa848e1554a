// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/elements/elements.hpp"

#include "kernels/elements/converted.cuh"
#include "kernels/elements/elementwise.cuh"

#include <cstdint>
#include <type_traits>

namespace runner {
namespace {

constexpr int threads = elementwise_threads;

/// As static_cast<T>, in one rounding.
template <class T, class In> __device__ inline T loaded(In element) {
    if constexpr (std::is_same_v<T, double>) {
        return to_double(element);
    } else {
        return static_cast<T>(element);
    }
}

template <class T>
__global__ void __launch_bounds__(threads)
    load_kernel(ElementType type, const std::byte* from, std::int64_t count, T* to) {
    const std::int64_t step = std::int64_t{gridDim.x} * threads;
    const std::int64_t first = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    visit_on_device(type, [&](auto zero) {
        const auto* elements = reinterpret_cast<const decltype(zero)*>(from);
#pragma unroll 4
        for (std::int64_t i = first; i < count; i += step) {
            to[i] = loaded<T>(elements[i]);
        }
    });
}

template <class T>
__global__ void __launch_bounds__(threads)
    store_kernel(ElementType type, const T* from, std::int64_t count, std::byte* to) {
    const std::int64_t step = std::int64_t{gridDim.x} * threads;
    const std::int64_t first = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    visit_on_device(type, [&](auto zero) {
        using Out = decltype(zero);
        auto* elements = reinterpret_cast<Out*>(to);
#pragma unroll 4
        for (std::int64_t i = first; i < count; i += step) {
            elements[i] = converted_on_device<Out>(from[i]);
        }
    });
}

template <class T>
void load(CudaQueue& queue, ElementType type, const std::byte* from, std::int64_t count, T* to) {
    if (count > 0) {
        launch(queue, strided_shape(count), load_kernel<T>, type, from, count, to);
    }
}

template <class T>
void store(CudaQueue& queue, ElementType type, const T* from, std::int64_t count, std::byte* to) {
    if (count > 0) {
        launch(queue, strided_shape(count), store_kernel<T>, type, from, count, to);
    }
}

} // namespace

void load_elements(CudaQueue& queue, ElementType type, const std::byte* from, std::int64_t count,
                   float* to) {
    load(queue, type, from, count, to);
}
void load_elements(CudaQueue& queue, ElementType type, const std::byte* from, std::int64_t count,
                   double* to) {
    load(queue, type, from, count, to);
}
void store_elements(CudaQueue& queue, ElementType type, const float* from, std::int64_t count,
                    std::byte* to) {
    store(queue, type, from, count, to);
}
void store_elements(CudaQueue& queue, ElementType type, const double* from, std::int64_t count,
                    std::byte* to) {
    store(queue, type, from, count, to);
}

} // namespace runner
