// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

} // namespace runner
