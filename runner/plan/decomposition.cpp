// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/decomposition.hpp"

#include "base/rounding.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <numeric>

namespace runner {
namespace {

/// The first finished run of rows that ends after `row`.
RowSet::const_iterator done_after(const RowSet& done, std::int64_t row) {
    return std::partition_point(done.begin(), done.end(),
                                [row](const RowRange& range) { return range.last <= row; });
}

/// Where rank's slab starts; rank == ranks gives the end.
std::int64_t slab_start(const Decomposition& d, int rank) {
    if (rank <= 0 || rank >= d.ranks) {
        return rank <= 0 ? 0 : d.total_rows();
    }
    // to_do · rank / ranks without the product, which may pass 2^63.
    const std::int64_t to_do = d.rows_to_do({0, d.total_rows()});
    const std::int64_t quotient = to_do / d.ranks;
    const std::int64_t remainder = to_do % d.ranks;
    std::int64_t start = quotient * rank + remainder * rank / d.ranks; // counts rows to do
    for (const RowRange& range : d.done) {
        if (range.first > start) {
            break;
        }
        start += range.count();
    }
    const std::int64_t frame = start / d.rows;
    const std::int64_t row = start % d.rows;
    return frame * d.rows + row / d.alignment * d.alignment;
}

} // namespace

RowRange Decomposition::slab(int rank) const {
    return {slab_start(*this, rank), slab_start(*this, rank + 1)};
}

std::int64_t Decomposition::first_with(std::int64_t out) const {
    std::int64_t low = 0;
    std::int64_t high = frames * layers_of_frame();
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (out_before(layer_start(middle)) < out) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

RowRange Decomposition::rows_within(RowRange out) const {
    // Rows that have none of the output may be on either side.
    const std::int64_t last = out.last >= out_before(total_rows())
                                  ? total_rows()
                                  : layer_start(first_with(out.last + 1) - 1);
    return {layer_start(first_with(out.first)), last};
}

RowRange Decomposition::rows_around(RowRange out) const {
    return {layer_start(first_with(out.first + 1) - 1), layer_start(first_with(out.last))};
}

std::int64_t Decomposition::rows_to_do(RowRange range) const {
    std::int64_t to_do = range.count();
    for (auto run = done_after(done, range.first); run != done.end() && run->first < range.last;
         ++run) {
        to_do -= std::min(run->last, range.last) - std::max(run->first, range.first);
    }
    return to_do;
}

RowRange Decomposition::window(std::int64_t first, std::int64_t last) const {
    if (halo >= rows || (first == 0 && last == rows)) {
        return {0, rows};
    }
    if (border == RowBorder::periodic) {
        return {first - halo, last + halo};
    }
    return {std::max<std::int64_t>(0, first - halo), std::min(rows, last + halo)};
}

std::int64_t Decomposition::most_in_rows() const {
    const std::int64_t frame_part = std::min(chunk_rows, rows);
    std::int64_t most = frame_part;
    if (halo >= rows) {
        most = rows;
    } else if (border == RowBorder::periodic) {
        // One row less than a frame is the largest part of a frame that is not the whole.
        most = std::max(rows == frame_part ? rows : 0, std::min(chunk_rows, rows - 1) + 2 * halo);
    } else {
        most = std::min(rows, frame_part + 2 * halo);
    }
    return whole_frames() ? std::max(most, chunk_rows / rows * rows) : most;
}

std::int64_t Decomposition::most_out_rows() const {
    return whole_frames() ? chunk_rows / rows * made.before(rows) : made.most(chunk_rows);
}

RowBlock Decomposition::largest_block() const {
    if (whole_frames() && chunk_rows / rows * rows >= most_in_rows()) {
        return {chunk_rows / rows, 0, rows, 0, rows};
    }
    return {1, 0, most_in_rows(), 0, std::min(chunk_rows, rows)};
}

std::int64_t chunk_alignment(const StreamShape& shape, std::int64_t stored_rows) {
    const OutputRows& made = shape.made;
    if (made.layer == 1) {
        return stored_rows;
    }
    const std::vector<std::int64_t>& extents = shape.output.shape;
    const std::int64_t frame = extents[row_axes(extents) - 1];
    // A layer that makes whole frames of the output ends where its storage may.
    return made.each % frame == 0 ? made.layer
                                  : made.layer * std::lcm(made.each, stored_rows) / made.each;
}

Decomposition one_rank(const StreamShape& shape, std::int64_t stored_rows,
                       std::int64_t wanted_rows) {
    const std::int64_t rows = std::clamp<std::int64_t>(wanted_rows, 1, shape.frames * shape.rows);
    const std::int64_t step = chunk_alignment(shape, stored_rows);
    return {shape.frames,         shape.rows, shape.halo, shape.border, step,
            round_up(rows, step), 1,          {},         shape.made};
}

ChunkCursor::ChunkCursor(const Decomposition& decomposition, RowRange slab)
    : decomposition_(decomposition), rest_(slab) {}

std::optional<Chunk> ChunkCursor::next() {
    const Decomposition& d = decomposition_;
    const auto done = done_after(d.done, rest_.first);
    std::int64_t last = rest_.last;
    if (done != d.done.end()) {
        if (done->first <= rest_.first) {
            rest_.first = done->last;
            return next();
        }
        last = std::min(last, done->first);
    }
    if (rest_.empty()) {
        return std::nullopt;
    }
    Chunk chunk;
    chunk.frame = rest_.first / d.rows;
    const std::int64_t row = rest_.first % d.rows;
    const std::int64_t rows = last - rest_.first;
    if (row == 0 && d.whole_frames() && rows >= d.rows) {
        const std::int64_t frames = std::min(d.chunk_rows, rows) / d.rows;
        chunk.block = {frames, 0, d.rows, 0, d.rows};
    } else {
        const std::int64_t step = row / d.chunk_rows * d.chunk_rows + d.chunk_rows;
        const std::int64_t end = std::min({step, d.rows, row + rows});
        const RowRange window = d.window(row, end);
        chunk.block = {1, window.first, window.count(), row, end - row};
        chunk.run.last = std::min(d.rows, row + rows);
        if (before_ && before_->frame == chunk.frame && before_->block.frames == 1 &&
            before_->block.out_first + before_->block.out_rows == row) {
            chunk.run.before = before_->block;
        }
    }
    rest_.first += chunk.out_rows();
    before_ = chunk;
    return chunk;
}

std::int64_t count_chunks(const Decomposition& decomposition, RowRange slab) {
    ChunkCursor cursor(decomposition, slab);
    std::int64_t count = 0;
    while (cursor.next()) {
        ++count;
    }
    return count;
}

std::vector<RowSource> row_sources(const Decomposition& decomposition, std::int64_t frame,
                                   RowRange range) {
    std::vector<RowSource> sources;
    const std::int64_t rows = decomposition.rows;
    for (std::int64_t row = range.first; row < range.last;) {
        const std::int64_t inside = ((row % rows) + rows) % rows;
        const std::int64_t count = std::min(range.last - row, rows - inside);
        sources.push_back({row, frame * rows + inside, count});
        row += count;
    }
    return sources;
}

} // namespace runner
