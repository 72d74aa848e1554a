// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"
#include "io/rows/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
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

/// `FILE.shard-ATTEMPT-RANK`, and with -NUMBER behind it from the rank's second file on. `attempt`
/// is the journal's.
std::string shard_path(const OutputDataset& output, int rank, std::int64_t attempt,
                       std::int64_t number);

/// All shards there are, of whichever run, by name; no file whose name only begins like theirs.
std::vector<std::string> shard_paths(const OutputDataset& output);

/// How parts are packed in shards. Parts of chunks of several layers are unpacked when the chunks
/// are put together, so they wait in lz4, which takes little time.
OutputLayout shard_layout(const OutputDataset& output);

/// Removes the shards, once the output has its name.
void remove_shards(const OutputDataset& output);

/// The compressed parts of chunks (ChunkGrid) of an output in all its shards, of whichever run.
class PackedParts {
  public:
    /// Opens and lists the shards. @throws Error (output).
    explicit PackedParts(const OutputDataset& output);

    /// Whether a shard lists this part.
    bool has(std::int64_t part) const {
        return !places_.at(static_cast<std::size_t>(part)).empty();
    }

    /// Fills `bytes` with the packed part; false when no shard has it whole.
    bool read(std::int64_t part, std::vector<std::byte>& bytes) const;

    /// As read(), of a part of chunk `chunk`. @throws Error (output) when no shard has it whole.
    void take(std::int64_t part, std::int64_t chunk, std::vector<std::byte>& bytes) const;

  private:
    /// Where a part waits.
    struct Place {
        std::int64_t bytes = 0;
        std::int64_t offset = 0;
        std::uint64_t hash = 0;
        std::size_t shard = 0;
    };

    using Listed = std::pair<std::int64_t, Place>; ///< a part, and where it waits

    std::vector<Listed> list(std::size_t shard) const;

    std::vector<File> shards_;
    /// The places of each part: a run that was killed after writing one and before its journal knew
    /// leaves it twice.
    std::vector<std::vector<Place>> places_;
};

} // namespace runner
