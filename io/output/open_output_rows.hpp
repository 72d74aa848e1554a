// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <cstdint>
#include <memory>

namespace runner {

/// `threads` ≥ 1 write at once. `rank` and `generation`, that of the journal, tell apart the shards
/// that compressed chunks are kept in: `FILE.shard-GENERATION-RANK`.
std::unique_ptr<RowWriter> open_output_rows(const OutputDataset& output, int rank, int threads,
                                            std::int64_t generation = 1);

/// Makes a file of the format that its name says, HDF5 where it says none, and opens it for all of
/// its rows; the caller is the only one. @throws Error (output); (usage) for a format whose rows
/// cannot be written so, as PNG's.
std::unique_ptr<RowWriter> make_rows(const OutputDataset& output, int threads);

} // namespace runner
