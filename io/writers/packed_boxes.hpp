// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/unpacker.hpp"
#include "io/levels/level_sweep.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/rows.hpp"
#include "io/writers/shards.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace runner {

/// Boxes of an output that is not assembled yet, of its packed parts. For one thread.
class PackedBoxes {
  public:
    /// `grid` and `parts`, those of the output, outlive it.
    PackedBoxes(const OutputDataset& output, const ChunkGrid& grid, const PackedParts& parts);

    /// Fills `to` with the box's elements, dense. @throws Error (output) where a part is not whole.
    void read(const VolumeBox& box, std::byte* to);

  private:
    /// Copies what a part, the one of row i and column j of its frame's, has of the box.
    void copy(std::int64_t part, std::int64_t i, std::int64_t j, const VolumeBox& box,
              std::byte* layer);

    std::int64_t size_;
    Volumes volumes_;
    const ChunkGrid& grid_;
    const PackedParts& parts_;
    Unpacker unpacker_;
    std::vector<std::byte> packed_;
};

} // namespace runner
