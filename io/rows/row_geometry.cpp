// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/row_geometry.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

namespace runner {

void check_rows(const ArrayInfo& array, std::int64_t first, std::int64_t rows) {
    if (first < 0 || rows < 0 || first > row_count(array) - rows) {
        throw Error(ExitCode::defect,
                    {"rows beyond the dataset are asked for", shape_text(array.shape),
                     fmt::format("rows {} to {}", first, first + rows), ""});
    }
}

std::int64_t rows_to_border(const ArrayInfo& array, std::int64_t alignment, std::int64_t first,
                            std::int64_t most) {
    const std::int64_t frame_rows = array.shape[row_axes(array.shape) - 1];
    const std::int64_t end = std::min(first + most, row_count(array));
    const std::int64_t border = end - end % frame_rows % alignment;
    return (border > first ? border : end) - first;
}

RowBox box_at(std::span<const std::int64_t> shape, std::int64_t first, std::int64_t end) {
    const std::size_t axes = shape.size();
    RowBox box{std::vector<std::int64_t>(axes, 0), std::vector<std::int64_t>(axes, 1), 1};
    if (axes > 1) {
        box.count.back() = shape.back();
    }
    std::int64_t rest = first;
    std::int64_t inner = 1; // rows below one step of the axis
    bool whole = true;      // the axes within are taken whole
    for (std::size_t axis = row_axes(shape); axis-- > 0;) {
        const std::int64_t at = rest % shape[axis];
        rest /= shape[axis];
        box.start[axis] = at;
        const std::int64_t fit = std::min(shape[axis] - at, (end - first) / inner);
        if (whole) { // and so `fit` is 1 at least
            box.count[axis] = fit;
            box.rows = inner * fit;
        }
        // The next axis outward can be longer than 1 only over whole ones.
        whole = whole && at == 0 && fit == shape[axis];
        inner *= shape[axis];
    }
    return box;
}

std::set<std::vector<std::int64_t>> chunks_of_rows(std::span<const std::int64_t> shape,
                                                   std::span<const std::int64_t> extents,
                                                   std::int64_t first, std::int64_t end) {
    using Chunk = std::vector<std::int64_t>;
    std::set<Chunk> chunks;
    while (first < end) {
        const RowBox box = box_at(shape, first, end);
        Chunk low(box.start.size());
        for (std::size_t axis = 0; axis < low.size(); ++axis) {
            low[axis] = box.start[axis] / extents[axis] * extents[axis];
        }
        for (Chunk chunk = low;;) {
            chunks.insert(chunk);
            std::size_t axis = chunk.size();
            while (axis > 0) {
                --axis;
                chunk[axis] += extents[axis];
                if (chunk[axis] < box.start[axis] + box.count[axis]) {
                    break;
                }
                chunk[axis] = low[axis];
                if (axis == 0) {
                    chunk.clear();
                    break;
                }
            }
            if (chunk.empty()) {
                break;
            }
        }
        first += box.rows;
    }
    return chunks;
}

} // namespace runner
