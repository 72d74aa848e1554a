// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/chunk_lines.hpp"

#include <algorithm>

namespace runner {

ChunkLines::ChunkLines(const ArrayInfo& array, const std::vector<std::int64_t>& chunk)
    : array_(array), chunk_(chunk), row_(row_bytes(array)),
      bytes_(chunk.back() * size_of(array.type)),
      count_(checked_product(std::span(chunk).first(chunk.size() - 1))) {}

std::int64_t ChunkLines::last_row(const Chunk& chunk) const {
    std::int64_t row = 0;
    for (std::size_t axis = 0; axis < row_axes(array_.shape); ++axis) {
        const std::int64_t extent = array_.shape[axis];
        row = row * extent + std::min(chunk[axis] + chunk_[axis], extent) - 1;
    }
    return row;
}

std::optional<std::int64_t> ChunkLines::whole_rows(const Chunk& chunk, std::int64_t first,
                                                   std::int64_t end) const {
    if (chunk.size() < 2 || chunk_.back() != array_.shape.back()) {
        return std::nullopt;
    }
    const std::int64_t row = row_of(chunk, 0);
    const bool dense =
        row >= first && row + count_ <= end && row_of(chunk, count_ - 1) == row + count_ - 1;
    return dense ? std::optional(row) : std::nullopt;
}

ChunkLines::Range ChunkLines::within(const Chunk& chunk, std::int64_t first,
                                     std::int64_t end) const {
    // Rows do not fall from line to line where one beyond the array counts as the last one before.
    const auto row_within = [&](std::int64_t line) {
        std::int64_t row = 0;
        std::int64_t below = count_; // lines in one step of the axis
        bool beyond = false;
        for (std::size_t axis = 0; axis + 1 < chunk.size(); ++axis) {
            below /= chunk_[axis];
            const std::int64_t at = chunk[axis] + (beyond ? chunk_[axis] - 1 : line / below);
            line %= below;
            beyond = beyond || at >= array_.shape[axis];
            row = row * array_.shape[axis] + std::min(at, array_.shape[axis] - 1);
        }
        return row;
    };
    const auto first_line_from = [&](std::int64_t row) {
        Range rest{0, count_};
        while (rest.begin < rest.end) {
            const std::int64_t middle = (rest.begin + rest.end) / 2;
            if (row_within(middle) < row) {
                rest.begin = middle + 1;
            } else {
                rest.end = middle;
            }
        }
        return rest.begin;
    };
    return {first_line_from(first), first_line_from(end)};
}

void ChunkLines::copy_rows(const Chunk& chunk, const StoredLines& stored, std::int64_t first,
                           std::int64_t end, std::byte* to) const {
    if (array_.shape.size() == 1) {
        const std::int64_t size = size_of(array_.type);
        const std::int64_t low = std::max(first, chunk[0]);
        const std::int64_t high = std::min({end, chunk[0] + chunk_[0], array_.shape[0]});
        std::copy_n(stored.elements.data() + (low - chunk[0]) * size, (high - low) * size,
                    to + (low - first) * size);
        return;
    }
    while (first < end) {
        const RowBox box = box_at(array_.shape, first, end);
        copy_box(chunk, stored, box, to);
        to += box.rows * row_;
        first += box.rows;
    }
}

/// Copies what the lines hold of a box of whole rows to its place behind the box's first row. A
/// chunk of many frames is read a frame at a time, so lines of other rows are not looked at.
void ChunkLines::copy_box(const Chunk& chunk, const StoredLines& stored, const RowBox& box,
                          std::byte* to) const {
    const std::size_t last = chunk.size() - 1;
    const std::int64_t used = used_bytes(chunk);
    const std::int64_t stored_end = stored.first + std::ssize(stored.elements) / bytes_;
    std::vector<std::int64_t> low(last);
    std::vector<std::int64_t> high(last);
    for (std::size_t axis = 0; axis < last; ++axis) {
        low[axis] = std::max(chunk[axis], box.start[axis]);
        high[axis] = std::min(chunk[axis] + chunk_[axis], box.start[axis] + box.count[axis]);
        if (low[axis] >= high[axis]) {
            return;
        }
    }
    for (std::vector<std::int64_t> at = low; at[0] < high[0];) {
        std::int64_t line = 0;
        std::int64_t row = 0;
        for (std::size_t axis = 0; axis < last; ++axis) {
            line = line * chunk_[axis] + at[axis] - chunk[axis];
            row = row * array_.shape[axis] + at[axis] - box.start[axis];
        }
        const std::int64_t run = high[last - 1] - at[last - 1];
        const std::int64_t begin = std::max(line, stored.first);
        const std::int64_t end = std::min(line + run, stored_end);
        const std::byte* from = stored.elements.data() + (begin - stored.first) * bytes_;
        std::byte* place = to + (row + begin - line) * row_ + chunk[last] * size_of(array_.type);
        for (std::int64_t i = begin; i < end; ++i) {
            std::copy_n(from, used, place);
            from += bytes_;
            place += row_;
        }
        at[last - 1] = high[last - 1];
        for (std::size_t axis = last - 1; axis > 0 && at[axis] == high[axis]; --axis) {
            at[axis] = low[axis];
            ++at[axis - 1];
        }
    }
}

void ChunkLines::copy_lines(const Chunk& chunk, const StoredLines& stored,
                            const std::function<std::byte*(std::int64_t row)>& place_of_row) const {
    const std::int64_t used = used_bytes(chunk);
    const std::int64_t lines = std::ssize(stored.elements) / bytes_;
    for (std::int64_t i = 0; i < lines; ++i) {
        const std::int64_t row = row_of(chunk, stored.first + i);
        std::byte* const to = row < 0 ? nullptr : place_of_row(row);
        if (to != nullptr) {
            std::copy_n(stored.elements.data() + i * bytes_, used,
                        to + chunk.back() * size_of(array_.type));
        }
    }
}

/// The array's row that a line is a part of; -1 for a line beyond the array.
std::int64_t ChunkLines::row_of(const Chunk& chunk, std::int64_t line) const {
    std::int64_t row = 0;
    std::int64_t below = 1; // rows of the array in one step of the axis
    for (std::size_t axis = chunk.size() - 1; axis-- > 0;) {
        const std::int64_t at = chunk[axis] + line % chunk_[axis];
        line /= chunk_[axis];
        if (at >= array_.shape[axis]) {
            return -1;
        }
        row += at * below;
        below *= array_.shape[axis];
    }
    return row;
}

/// Bytes of a line that are within the array.
std::int64_t ChunkLines::used_bytes(const Chunk& chunk) const {
    return std::min(chunk_.back(), array_.shape.back() - chunk.back()) * size_of(array_.type);
}

} // namespace runner
