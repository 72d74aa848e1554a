// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/levels/level_sweep.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace runner {

/// A part of an array.
struct ArrayBox {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> count;

    std::int64_t elements() const;
};

/// An output that is a folder (FolderOfChunks) cut into units, each of whole files, and of whole
/// regions of the sweep that makes its coarser levels. A unit of one large file is cut into slabs,
/// whose chunks follow one another in it; these too are whole regions.
class ImageUnits {
  public:
    /// `grid` and `sweep`: those of the output.
    ImageUnits(const OutputDataset& output, const ChunkGrid& grid, const LevelSweep& sweep);

    std::int64_t count() const;

    /// Bytes of the largest slab.
    std::int64_t bytes() const;

    ArrayBox unit(std::int64_t index) const;

    /// The numbers of the files that a unit is.
    std::vector<std::int64_t> files_of(const ArrayBox& unit) const;

    /// The slabs of a unit in the order of its chunks; one where it is several files.
    std::vector<ArrayBox> slabs_of(const ArrayBox& unit) const;

    /// Chunks of a slab that ends within its file: of those the file counts, also those beyond the
    /// array's end.
    std::int64_t slab_chunks() const;

  private:
    void lengthen_units();
    void cut_units(const ChunkGrid& grid, const LevelSweep& sweep);

    std::int64_t bytes_of(const std::vector<std::int64_t>& extents) const;

    std::vector<std::int64_t> shape_;
    std::int64_t element_bytes_;
    std::vector<std::int64_t> chunk_;
    std::vector<std::int64_t> file_; ///< extents of what a file holds
    std::vector<std::int64_t> unit_;
    std::size_t axis_ = 0;  ///< along which slabs follow one another
    std::int64_t slab_ = 0; ///< their extent along it
};

} // namespace runner
