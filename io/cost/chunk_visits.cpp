// SPDX-License-Identifier: BSD-3-Clause
#include "io/cost/chunk_visits.hpp"

#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <cstddef>

namespace runner {

ChunkVisits::ChunkVisits(const DatasetLayout& layout)
    : layout_(layout), counts_(chunk_counts(layout.info)) {}

void ChunkVisits::visit(std::int64_t index, std::int64_t last_row, std::int64_t end) {
    ++visits_;
    if (kept_indices_.contains(index)) {
        return;
    }
    ++chunks_;
    const auto place = std::lower_bound(
        layout_.chunks.begin(), layout_.chunks.end(), index,
        [](const ChunkPlace& each, std::int64_t wanted) { return each.index < wanted; });
    stored_ += place != layout_.chunks.end() && place->index == index ? place->bytes : 0;
    // In a call that takes several boxes of rows a chunk may be met again.
    kept_.emplace(std::max(last_row, end - 1), index);
    kept_indices_.insert(index);
}

void ChunkVisits::read(std::int64_t first, std::int64_t rows) {
    const std::vector<std::int64_t>& shape = layout_.info.array.shape;
    const std::vector<std::int64_t>& chunk = layout_.info.chunk;
    const std::int64_t end = first + rows;
    for (std::int64_t at = first; at < end;) {
        const RowBox box = box_at(shape, at, end);
        std::vector<std::int64_t> low(shape.size());
        std::vector<std::int64_t> high(shape.size());
        std::int64_t cells = 1;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            low[axis] = box.start[axis] / chunk[axis];
            high[axis] = (box.start[axis] + box.count[axis] - 1) / chunk[axis];
            cells *= high[axis] - low[axis] + 1;
        }
        for (std::int64_t cell = 0; cell < cells; ++cell) {
            std::int64_t rest = cell;
            std::int64_t index = 0;
            std::int64_t last_row = 0;
            std::int64_t index_step = 1;
            std::int64_t row_step = 1;
            for (std::size_t axis = shape.size(); axis-- > 0;) {
                const std::int64_t extent = high[axis] - low[axis] + 1;
                const std::int64_t number = low[axis] + rest % extent;
                rest /= extent;
                index += number * index_step;
                index_step *= counts_[axis];
                if (axis < row_axes(shape)) {
                    last_row += (std::min((number + 1) * chunk[axis], shape[axis]) - 1) * row_step;
                    row_step *= shape[axis];
                }
            }
            visit(index, last_row, end);
        }
        at += box.rows;
    }
    while (!kept_.empty() && kept_.begin()->first < end) {
        kept_indices_.erase(kept_.begin()->second);
        kept_.erase(kept_.begin());
    }
}

} // namespace runner
