// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/rows/rows.hpp"
#include "io/rows/stored_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
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

/// Rows that lie together in a file, and apart in memory.
struct ScatteredRun {
    std::int64_t source = 0; ///< number of the file
    std::int64_t offset = 0;
    std::int64_t rows = 0;
    std::byte* to = nullptr; ///< place of the first row
    std::int64_t pitch = 0;  ///< bytes from the place of a row to that of the next
};

/// Adds where rows of a source lie, in runs of 512 KiB or less, or of a row.
void append_scattered(std::vector<ScatteredRun>& runs, std::int64_t source,
                      std::span<const RowExtent> extents, const ScatteredRows& rows,
                      std::int64_t row);

/// Reads a run of rows of such a dataset from its file.
void read_run(const File& file, const ScatteredRun& run, const DatasetInfo& info);

/// Calls `work` for each run, on several threads, each of which takes enough runs at a time that
/// handing them out costs little beside the reading.
void for_runs(IoThreads& threads, std::span<const ScatteredRun> runs, std::int64_t row,
              const std::function<void(const ScatteredRun&)>& work);

} // namespace runner
