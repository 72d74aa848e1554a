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

std::vector<PlainRun> plain_runs(std::span<const RowExtent> extents, std::int64_t first,
                                 std::int64_t rows, std::int64_t row) {
    std::vector<PlainRun> runs;
    auto extent = std::upper_bound(
        extents.begin(), extents.end(), first,
        [](std::int64_t wanted, const RowExtent& each) { return wanted < each.first; });
    for (std::int64_t done = 0; done < rows; ++extent) {
        const RowExtent& here = *(extent - 1); // the last that begins at or before the row
        const std::int64_t skipped = first + done - here.first;
        const std::int64_t count = std::min(here.rows - skipped, rows - done);
        runs.push_back({here.offset + skipped * row, count * row, done * row});
        done += count;
    }
    return runs;
}

std::vector<PlainRun> cut_runs(std::span<const PlainRun> runs, std::int64_t most) {
    std::vector<PlainRun> blocks;
    for (const PlainRun& run : runs) {
        for (std::int64_t at = 0; at < run.bytes; at += most) {
            blocks.push_back({run.offset + at, std::min(most, run.bytes - at), run.to + at});
        }
    }
    return blocks;
}

} // namespace runner
