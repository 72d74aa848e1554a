// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/sizes.hpp"
#include "io/rows/rows.hpp"

#include <cstdint>

namespace runner {

/// What one rank assembles of an output. Of one in parts, and of a folder, each rank has files of
/// its own; one file is the first rank's.
struct AssemblyShare {
    int rank = 0;
    int ranks = 1;
    int threads = 1; ///< read and check the shards
    RowWriter::Sync sync = RowWriter::Sync::no;
    /// Bytes for more threads than one where chunks are of several layers, which are packed again.
    std::int64_t memory = 64 * MiB;
};

/// After every rank's finish(): stores the compressed chunks of all shards in the output's file, or
/// in those of its parts that are this rank's. Nothing to do for other layouts.
/// @throws Error (output) naming a chunk that is in no shard.
void assemble_output(const OutputDataset& output, const AssemblyShare& share = {});

} // namespace runner
