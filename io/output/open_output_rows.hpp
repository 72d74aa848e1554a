// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <cstdint>
#include <memory>

namespace runner {

/// `threads` ≥ 1 write at once. `rank` and `attempt`, that of the journal, tell apart the shards
/// that compressed chunks are kept in: `FILE.shard-ATTEMPT-RANK`. `waiting`: memory beside
/// writer_bytes() in which rows may wait until compressed chunks of several layers are whole.
std::unique_ptr<RowWriter> open_output_rows(const OutputDataset& output, int rank, int threads,
                                            std::int64_t attempt = 1, std::int64_t waiting = 0);

/// How rows pass through the memory of a process that writes all of an output.
struct RowSteps {
    std::int64_t alignment = 1; ///< row_alignment()
    std::int64_t rows = 1;      ///< at once, at most; the alignment at least
    int threads = 1;            ///< that write
    std::int64_t bytes = 0;     ///< memory of a step and of the writer
    std::int64_t spare = 0;     ///< of what is left, for putting the output together
};

/// Steps of `buffer_bytes`, or of the rows that a chunk spans where these are more. Fewer than
/// `threads` ≥ 1 where their memory and a step would pass `most_bytes`.
/// @throws Error (usage) where they do with one thread; as check_chunk() and row_alignment().
RowSteps row_steps(const OutputDataset& output, std::int64_t buffer_bytes, std::int64_t most_bytes,
                   int threads);

/// The output as its file's name says: its format, and that format's usual compression where it
/// asks for none.
OutputDataset as_named(OutputDataset output);

/// Makes a file of the format that its name says, HDF5 where it says none, and opens it for all of
/// its rows; the caller is the only one. Its finish() also puts compressed chunks in their places;
/// a writer that ends before removes the files that hold these meanwhile. @throws Error (output);
/// (usage) for what the format does not hold.
std::unique_ptr<RowWriter> make_rows(const OutputDataset& output, const RowSteps& steps);

class FileAccess;

/// Writes rows again into a finished output, each into its place, as often as one likes. All that
/// is not of these rows stays as it is; where compressed rows take another size than before, the
/// index of chunks changes too, which `files` does. `files` outlives the writer.
/// @throws Error (output) when the dataset is not stored as `output` says, or in the index a chunk
/// is missing, shares bytes with another or lies beyond the file: to write there would destroy what
/// is right.
std::unique_ptr<RowWriter> reopen_output_rows(FileAccess& files, const OutputDataset& output,
                                              int threads);

} // namespace runner
