// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// A shard is a file that holds a rank's compressed parts of chunks (ChunkGrid) until
/// assemble_output(): ShardRecords, each followed by the part's bytes, in the order in which they
/// were done. A run that was killed may leave anything after the last part that its journal knows
/// of.
struct ShardRecord {
    std::int64_t part = 0;   ///< its index in ChunkGrid's order
    std::int64_t bytes = 0;  ///< after this record
    std::uint64_t hash = 0;  ///< hash_bytes() of them
    std::uint64_t check = 0; ///< hash_bytes() of the fields above
};

/// The check that a record's other fields call for.
std::uint64_t check_of(const ShardRecord& record);

std::string shard_path(const OutputDataset& output, int rank, std::int64_t generation);

/// All shards there are, of whichever run, by name; no file whose name only begins like theirs.
std::vector<std::string> shard_paths(const OutputDataset& output);

/// Removes the shards, once the output has its name.
void remove_shards(const OutputDataset& output);

} // namespace runner
