// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/elements/elementwise.cuh"
#include "kernels/fill/cube_call.hpp"
#include "kernels/fill/fill_means.hpp"

namespace runner {
namespace {

constexpr int cube_threads = elementwise_threads;

/// Calls make(row, column) of elements, a thread one after the other.
template <class Make>
__device__ void for_elements(std::int64_t count, std::int64_t columns, const Make& make) {
    const std::int64_t step = std::int64_t{gridDim.x} * cube_threads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * cube_threads + threadIdx.x; i < count;
         i += step) {
        const std::int64_t row = i / columns;
        make(row, i - row * columns);
    }
}

template <class T>
__global__ void __launch_bounds__(cube_threads)
    along_x_kernel(CubeCall<T> call, std::int64_t count, const T* in, std::int32_t* of_x) {
    const std::int64_t columns = call.fill.columns;
    for_elements(count, columns, [&](std::int64_t row, std::int64_t x) {
        of_x[row * columns + x] = call.along_x(in + row * columns, x);
    });
}

template <class T>
__global__ void __launch_bounds__(cube_threads)
    along_y_kernel(CubeCall<T> call, std::int64_t count, const std::int32_t* of_x,
                   std::int32_t* of_y) {
    const std::int64_t columns = call.fill.columns;
    for_elements(count, columns, [&](std::int64_t row, std::int64_t x) {
        of_y[row * columns + x] = call.along_y(of_x, row, x);
    });
}

template <class T>
__global__ void __launch_bounds__(cube_threads)
    fill_means_kernel(CubeCall<T> call, std::int64_t count, const T* in, CubeRadii radii, T* out) {
    const std::int64_t columns = call.fill.columns;
    const std::int64_t before = call.fill.out_first - call.fill.in_first;
    for_elements(count, columns, [&](std::int64_t row, std::int64_t x) {
        out[row * columns + x] = call.made(in, radii, before + row, x);
    });
}

} // namespace

void fill_means(CudaQueue& queue, const Fill& fill, const RowBlock& block, const std::byte* in,
                std::byte* out, std::byte* scratch) {
    const std::int64_t count = block.in_rows * fill.columns;
    const std::int64_t made = block.out_rows * fill.columns;
    if (made == 0) {
        return;
    }
    const CubeRadii radii(scratch, count);
    visit_element_type(fill.type, [&](auto zero) {
        using T = decltype(zero);
        const CubeCall<T> call{fill_call<T>(fill, block)};
        const auto* const from = reinterpret_cast<const T*>(in);
        launch(queue, strided_shape(count), along_x_kernel<T>, call, count, from, radii.of_x);
        launch(queue, strided_shape(count), along_y_kernel<T>, call, count,
               static_cast<const std::int32_t*>(radii.of_x), radii.of_y);
        launch(queue, strided_shape(made), fill_means_kernel<T>, call, made, from, radii,
               reinterpret_cast<T*>(out));
    });
}

} // namespace runner
