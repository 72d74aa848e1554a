// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fill/fill.hpp"

#include "kernels/fill/fill_call.hpp"

#include <atomic>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// Makes row `row` of the output, counted through all frames.
template <class T>
void fill_row(const FillCall<T>& call, std::int64_t row, const T* in, T* out, FillCounts& counts) {
    const std::int64_t line = call.columns * call.channels;
    const std::int64_t frame_row = call.out_first + row % call.out_rows;
    const T* const frame = in + row / call.out_rows * call.in_rows * line;
    const T* const from = frame + (frame_row - call.in_first) * line;
    T* const to = out + row * line;
    for (std::int64_t i = 0; i < line; ++i) {
        to[i] = from[i];
        if (!call.is_invalid(from[i])) {
            continue;
        }
        if (call.method == Fill::Method::number) {
            to[i] = call.number;
            ++counts.filled;
            continue;
        }
        const auto around = call.look(frame, frame_row, i / call.channels, i % call.channels);
        to[i] = call.made(around);
        ++(around.count == 0 ? counts.left : counts.filled);
    }
}

} // namespace

void fill(CpuQueue& queue, const Fill& fill, const RowBlock& block, const std::byte* in,
          std::byte* out, FillCounts* counts) {
    visit_element_type(fill.type, [&](auto zero) {
        using T = decltype(zero);
        const FillCall<T> call = fill_call<T>(fill, block);
        using Range = tbb::blocked_range<std::int64_t>;
        queue.run([&] {
            tbb::parallel_for(Range(0, block.frames * block.out_rows), [&](const Range& range) {
                FillCounts own;
                for (std::int64_t row = range.begin(); row < range.end(); ++row) {
                    fill_row(call, row, reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out),
                             own);
                }
                std::atomic_ref(counts->filled).fetch_add(own.filled, std::memory_order_relaxed);
                std::atomic_ref(counts->left).fetch_add(own.left, std::memory_order_relaxed);
            });
        });
    });
}

} // namespace runner
