// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/stored_rows.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace runner {

/// Rows of a dataset that are rows of another one, its source.
struct RowPiece {
    std::int64_t first = 0;
    std::int64_t rows = 0;
    std::int64_t source = 0;       ///< number of the source
    std::int64_t source_first = 0; ///< row there

    bool operator==(const RowPiece&) const = default;
};

/// What pieces hold of rows [first, first + rows), which they cover. `pieces`: in the order of
/// their rows, each beginning where the one before ends.
std::vector<RowPiece> pieces_within(std::span<const RowPiece> pieces, std::int64_t first,
                                    std::int64_t rows);

/// Adds a piece, to the last one where it continues that.
void append_piece(std::vector<RowPiece>& pieces, const RowPiece& piece);

/// Bytes that lie together in a file.
struct PlainRun {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
    std::int64_t to = 0; ///< bytes after the first one that was asked for
};

/// Where rows [first, first + rows) of `row` bytes lie. `extents`: of all rows, in their order.
std::vector<PlainRun> plain_runs(std::span<const RowExtent> extents, std::int64_t first,
                                 std::int64_t rows, std::int64_t row);

/// The same runs cut into blocks of `most` bytes or fewer.
std::vector<PlainRun> cut_runs(std::span<const PlainRun> runs, std::int64_t most);

} // namespace runner
