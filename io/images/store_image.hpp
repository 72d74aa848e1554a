// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace runner {

/// Makes an output that is a folder of chunks in one pass over its elements, by a process that
/// makes all of it: each file and what the coarser levels have of its elements are made while these
/// are in memory. No chunk waits in a shard, as those of make_rows() do.

/// How many teams of threads make files at once, and the threads of each.
struct ImageTeams {
    int teams = 0; ///< 0: not made so
    int threads = 1;
};

/// For up to `threads` and `memory` bytes. No teams for an output that is no folder or has one axis
/// alone, and where not even one team has enough memory.
ImageTeams image_teams(const OutputDataset& output, int threads, std::int64_t memory);

/// Makes the folder and all that is in it, but for a record of a job. The output's first row is
/// row `first` of the readers', of which each team has one. @throws Error (output), and as
/// RowReader.
void store_image(const OutputDataset& output, const ImageTeams& teams, std::int64_t memory,
                 std::span<const std::unique_ptr<RowReader>> readers, std::int64_t first);

} // namespace runner
