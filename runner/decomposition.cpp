// SPDX-License-Identifier: BSD-3-Clause
#include "runner/decomposition.hpp"

#include <algorithm>

namespace runner {
namespace {

/// Where rank's slab starts; rank == ranks gives the end.
std::int64_t slab_start(const Decomposition& d, int rank) {
    if (rank >= d.ranks) {
        return d.total_rows();
    }
    // total · rank / ranks without the product, which may pass 2^63.
    const std::int64_t quotient = d.total_rows() / d.ranks;
    const std::int64_t remainder = d.total_rows() % d.ranks;
    const std::int64_t even = quotient * rank + remainder * rank / d.ranks;
    const std::int64_t frame = even / d.rows;
    const std::int64_t row = even % d.rows;
    return frame * d.rows + row / d.alignment * d.alignment;
}

} // namespace

RowRange Decomposition::slab(int rank) const {
    return {slab_start(*this, rank), slab_start(*this, rank + 1)};
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
    return whole_frames() ? chunk_rows / rows * rows : chunk_rows;
}

RowBlock Decomposition::largest_block() const {
    if (whole_frames() && chunk_rows / rows * rows >= most_in_rows()) {
        return {chunk_rows / rows, 0, rows, 0, rows};
    }
    return {1, 0, most_in_rows(), 0, std::min(chunk_rows, rows)};
}

ChunkCursor::ChunkCursor(const Decomposition& decomposition, RowRange slab)
    : decomposition_(decomposition), rest_(slab) {}

std::optional<Chunk> ChunkCursor::next() {
    if (rest_.empty()) {
        return std::nullopt;
    }
    const Decomposition& d = decomposition_;
    Chunk chunk;
    chunk.frame = rest_.first / d.rows;
    const std::int64_t row = rest_.first % d.rows;
    if (row == 0 && d.whole_frames() && rest_.count() >= d.rows) {
        const std::int64_t frames = std::min(d.chunk_rows, rest_.count()) / d.rows;
        chunk.block = {frames, 0, d.rows, 0, d.rows};
    } else {
        const std::int64_t step = row / d.chunk_rows * d.chunk_rows + d.chunk_rows;
        const std::int64_t end = std::min({step, d.rows, row + rest_.count()});
        const RowRange window = d.window(row, end);
        chunk.block = {1, window.first, window.count(), row, end - row};
    }
    rest_.first += chunk.out_rows();
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
