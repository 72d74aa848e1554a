// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"
#include "io/rows/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace runner {

/// The compressed parts of chunks (ChunkGrid) of an output in all its shards, of whichever run.
class PackedParts {
  public:
    /// Opens and lists the shards. @throws Error (output).
    explicit PackedParts(const OutputDataset& output);

    /// Whether a shard lists this part.
    bool has(std::int64_t part) const { return !places_.at(index(part)).empty(); }

    /// Fills `bytes` with the packed part; false when no shard has it whole.
    bool read(std::int64_t part, std::vector<std::byte>& bytes) const;

  private:
    /// Where a part waits.
    struct Place {
        std::int64_t bytes = 0;
        std::int64_t offset = 0;
        std::uint64_t hash = 0;
        std::size_t shard = 0;
    };

    static std::size_t index(std::int64_t part) { return static_cast<std::size_t>(part); }
    void list(std::size_t shard);

    std::vector<File> shards_;
    /// The places of each part: a run that was killed after writing one and before its journal knew
    /// leaves it twice.
    std::vector<std::vector<Place>> places_;
};

} // namespace runner
