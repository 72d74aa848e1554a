// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/unpacker.hpp"
#include "io/levels/level_sweep.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/rows.hpp"
#include "io/writers/shards.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace runner {

/// Boxes of an output that is not assembled yet, of its packed pieces. For one thread.
class PackedBoxes {
  public:
    /// `grid` and `pieces`, those of the output, outlive it.
    PackedBoxes(const OutputDataset& output, const ChunkGrid& grid, const PackedPieces& pieces);

    /// Fills `to` with the box's elements, dense. @throws Error (output) where a piece is not
    /// whole.
    void read(const VolumeBox& box, std::byte* to);

    /// Memory that one takes.
    static std::int64_t memory(const ChunkGrid& grid);

  private:
    /// Copies what a part, the one of row i and column j of its frame's, has of the box.
    void copy(std::int64_t part, std::int64_t i, std::int64_t j, const VolumeBox& box,
              std::byte* layer);
    /// The elements of a part; valid until the next call.
    const std::byte* unpacked(std::int64_t part);

    std::int64_t size_;
    Volumes volumes_;
    const ChunkGrid& grid_;
    const PackedPieces& pieces_;
    Unpacker parts_;
    Unpacker chunks_;                     ///< of several layers
    std::int64_t chunk_ = -1;             ///< the last one that was unpacked
    std::span<const std::byte> elements_; ///< of that
    std::vector<std::byte> packed_;
};

} // namespace runner
