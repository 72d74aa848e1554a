// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/row_pieces.hpp"

#include "io/rows/file_elements.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>

namespace runner {
namespace {

/// What a thread reads at a time of scattered rows.
constexpr std::int64_t scattered_block_bytes = 512 << 10;

} // namespace

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

void append_scattered(std::vector<ScatteredRun>& runs, std::int64_t source,
                      std::span<const RowExtent> extents, const ScatteredRows& rows,
                      std::int64_t row) {
    const std::int64_t most = std::max<std::int64_t>(1, scattered_block_bytes / row);
    for (const auto& [offset, bytes, at] : plain_runs(extents, rows.first, rows.rows, row)) {
        const std::int64_t count = bytes / row;
        std::byte* const to = rows.to + at / row * rows.pitch;
        for (std::int64_t done = 0; done < count; done += most) {
            runs.push_back({source, offset + done * row, std::min(most, count - done),
                            to + done * rows.pitch, rows.pitch});
        }
    }
}

void read_run(const File& file, const ScatteredRun& run, const DatasetInfo& info) {
    const std::int64_t row = row_bytes(info.array);
    file.read_rows(run.offset, run.rows, row, run.to, run.pitch);
    for (std::int64_t i = 0; info.big_endian && i < run.rows; ++i) {
        swap_bytes(run.to + i * run.pitch, row_elements(info.array), size_of(info.array.type));
    }
}

void for_runs(IoThreads& threads, std::span<const ScatteredRun> runs, std::int64_t row,
              const std::function<void(const ScatteredRun&)>& work) {
    std::int64_t rows = 0;
    for (const ScatteredRun& run : runs) {
        rows += run.rows;
    }
    const std::int64_t count = std::ssize(runs);
    const std::int64_t step = count * scattered_block_bytes / std::max<std::int64_t>(1, rows * row);
    const std::int64_t together = std::max<std::int64_t>(1, step);
    threads.run((count + together - 1) / together, [&](std::int64_t index, int /*thread*/) {
        const auto begin = static_cast<std::size_t>(index * together);
        const std::size_t end = std::min(runs.size(), begin + static_cast<std::size_t>(together));
        for (std::size_t i = begin; i < end; ++i) {
            work(runs[i]);
        }
    });
}

} // namespace runner
