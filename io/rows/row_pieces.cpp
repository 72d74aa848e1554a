// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/row_pieces.hpp"

#include <algorithm>

namespace runner {

std::vector<RowPiece> pieces_within(std::span<const RowPiece> pieces, std::int64_t first,
                                    std::int64_t rows) {
    const std::int64_t end = first + rows;
    auto piece = std::partition_point(pieces.begin(), pieces.end(), [&](const RowPiece& some) {
        return some.first + some.rows <= first;
    });
    std::vector<RowPiece> within;
    for (; piece != pieces.end() && piece->first < end; ++piece) {
        const std::int64_t skipped = std::max<std::int64_t>(0, first - piece->first);
        const std::int64_t last = std::min(piece->first + piece->rows, end);
        within.push_back({piece->first + skipped, last - piece->first - skipped, piece->source,
                          piece->source_first + skipped});
    }
    return within;
}

void append_piece(std::vector<RowPiece>& pieces, const RowPiece& piece) {
    if (!pieces.empty()) {
        RowPiece& last = pieces.back();
        if (last.source == piece.source && last.first + last.rows == piece.first &&
            last.source_first + last.rows == piece.source_first) {
            last.rows += piece.rows;
            return;
        }
    }
    pieces.push_back(piece);
}

} // namespace runner
