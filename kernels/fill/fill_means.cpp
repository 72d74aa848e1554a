// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fill/fill_means.hpp"

#include "kernels/fill/cube_call.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// make(row, column) of each element, in the order of rows.
template <class Make>
void for_elements(CpuQueue& queue, std::int64_t rows, std::int64_t columns, const Make& make) {
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, rows), [&](const Range& range) {
            for (std::int64_t row = range.begin(); row < range.end(); ++row) {
                for (std::int64_t x = 0; x < columns; ++x) {
                    make(row, x);
                }
            }
        });
    });
}

} // namespace

std::int64_t fill_means_scratch(const Fill& fill, const RowBlock& block) {
    return 2 * block.in_rows * fill.columns * std::int64_t{sizeof(std::int32_t)};
}

void fill_means(CpuQueue& queue, const Fill& fill, const RowBlock& block, const std::byte* in,
                std::byte* out, std::byte* scratch) {
    const std::int64_t columns = fill.columns;
    const CubeRadii radii(scratch, block.in_rows * columns);
    visit_element_type(fill.type, [&](auto zero) {
        using T = decltype(zero);
        const CubeCall<T> call{fill_call<T>(fill, block)};
        const auto* const from = reinterpret_cast<const T*>(in);
        auto* const to = reinterpret_cast<T*>(out);
        for_elements(queue, block.in_rows, columns, [&](std::int64_t row, std::int64_t x) {
            radii.of_x[row * columns + x] = call.along_x(from + row * columns, x);
        });
        for_elements(queue, block.in_rows, columns, [&](std::int64_t row, std::int64_t x) {
            radii.of_y[row * columns + x] = call.along_y(radii.of_x, row, x);
        });
        const std::int64_t before = block.out_first - block.in_first;
        for_elements(queue, block.out_rows, columns, [&](std::int64_t row, std::int64_t x) {
            to[row * columns + x] = call.made(from, radii, before + row, x);
        });
    });
}

} // namespace runner
