// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/elements/elementwise.cuh"
#include "kernels/fill/fill.hpp"
#include "kernels/fill/fill_call.hpp"

namespace runner {
namespace {

constexpr int threads = elementwise_threads;

/// A thread makes elements of the output one after the other.
template <class T>
__global__ void __launch_bounds__(threads)
    fill_kernel(FillCall<T> call, std::int64_t count, const T* in, T* out, FillCounts* counts) {
    const std::int64_t line = call.columns * call.channels;
    const std::int64_t step = std::int64_t{gridDim.x} * threads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < count; i += step) {
        const std::int64_t row = i / line;
        const std::int64_t column = i - row * line;
        const std::int64_t frame_number = row / call.out_rows;
        const std::int64_t frame_row = call.out_first + row - frame_number * call.out_rows;
        const T* const frame = in + frame_number * call.in_rows * line;
        T element = frame[(frame_row - call.in_first) * line + column];
        if (call.is_invalid(element)) {
            std::uint64_t* counted = &counts->filled;
            if (call.method == Fill::Method::number) {
                element = call.number;
            } else {
                const std::int64_t x = column / call.channels;
                const auto around = call.look(frame, frame_row, x, column - x * call.channels);
                element = call.made(around);
                counted = around.count == 0 ? &counts->left : counted;
            }
            atomicAdd(reinterpret_cast<unsigned long long*>(counted), 1ULL);
        }
        out[i] = element;
    }
}

} // namespace

void fill(CudaQueue& queue, const Fill& fill, const RowBlock& block, const std::byte* in,
          std::byte* out, FillCounts* counts) {
    const std::int64_t count = block.frames * block.out_rows * fill.columns * fill.channels;
    if (count == 0) {
        return;
    }
    visit_element_type(fill.type, [&](auto zero) {
        using T = decltype(zero);
        launch(queue, strided_shape(count), fill_kernel<T>, fill_call<T>(fill, block), count,
               reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out), counts);
    });
}

} // namespace runner
