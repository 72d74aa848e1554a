// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/divisor.hpp"
#include "kernels/transpose/transpose_axes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace runner {

class CudaQueue;

/// How a block of threads goes through a box on one side of a transposition. Axes stand in this
/// side's order, fastest first. A coordinate is that of the thread's column plus that of a row of
/// columns, so offsets are sums of a part of the thread and a part of the row:
/// coordinate = column + row · columns.
struct BoxSide {
    std::array<std::int64_t, 3> stride{}; ///< in memory, elements
    std::array<int, 3> shared{};          ///< in shared memory, elements
    std::array<int, 3> axis{};            ///< which of the box's
    std::array<std::uint32_t, 3> columns = {1, 1, 1};
    std::array<std::uint32_t, 3> rows = {1, 1, 1};
    std::array<Divisor, 2> column_divisor{}; ///< of the faster two
    std::array<Divisor, 2> row_divisor{};
    std::uint32_t all_columns = 1; ///< ≤ BoxPlan::threads
    std::uint32_t all_rows = 1;
    int split = 0; ///< the one that may have several of both, counted as here
};

/// A transposition in boxes that pass through shared memory: any strides, any extents.
struct BoxPlan {
    static constexpr int threads = 256;

    TransposeAxes axes;
    std::array<int, 3> extent = {1, 1, 1}; ///< of a box, axes as in `axes`
    std::array<int, 3> shared{};           ///< strides in shared memory, elements
    std::int64_t shared_bytes = 0;
    BoxSide in;
    BoxSide out;
};

/// What boxes should be like.
struct BoxWish {
    int run_bytes = 256;   ///< neighbours in memory, on both sides
    int box_bytes = 32768; ///< all of a box
};

BoxPlan plan_boxes(const TransposeAxes& axes, const BoxWish& wish);

/// Transposes by boxes, `group` of them along one axis before the next along the other.
void transpose_by_boxes(CudaQueue& queue, const BoxPlan& plan, int group, const std::byte* in,
                        std::byte* out);

} // namespace runner
