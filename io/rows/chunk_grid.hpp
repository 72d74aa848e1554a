// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/rows/output_layout.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace runner {

/// Up to this many unfiltered chunks their addresses are looked up one by one, which takes time as
/// the square of the number; above, they follow one another and are computed.
inline constexpr std::int64_t listed_chunks = 1024;

/// Checks that an array can be stored in chunks of these extents, which are cut to the array's.
/// `where`: what the error names, as "output.chunk = [16, 16]".
/// @throws Error (usage): not one extent for each axis, an extent < 1, or a chunk of 4 GiB or more.
void check_chunk(const ArrayInfo& array, std::span<const std::int64_t> chunk,
                 const std::string& where);

/// Where the chunks of a chunked output lie. The output is seen as frames (all axes before the last
/// two) of rows × columns, a chunk as layers, each the part of it in one frame, of chunk_rows ×
/// chunk_columns; an array of one axis is one frame of one column. Parts count along the columns
/// first, then rows, then frames; chunks as HDF5 counts them, which is the same where they have one
/// layer. Pieces are the parts, and behind them, where chunks have several layers, the chunks.
class ChunkGrid {
  public:
    /// Extents of `layout.chunk` over the array's are cut to the array's. Of another format than
    /// HDF5 they are those of its PackedFormat, which it has.
    /// @throws Error (usage) as check_chunk().
    ChunkGrid(const ArrayInfo& array, const OutputLayout& layout);

    const std::vector<std::int64_t>& chunk() const noexcept { return chunk_; }
    std::int64_t frame_rows() const noexcept { return frame_rows_; }
    std::int64_t columns() const noexcept { return columns_; }
    std::int64_t chunk_rows() const noexcept { return chunk_rows_; }
    std::int64_t chunk_columns() const noexcept { return chunk_columns_; }
    std::int64_t chunk_bytes() const noexcept { return layers_ * part_bytes_; }
    std::int64_t part_bytes() const noexcept { return part_bytes_; }
    std::int64_t layers() const noexcept { return layers_; } ///< parts of a chunk

    std::int64_t count() const noexcept { return count_; }   ///< chunks
    std::int64_t across() const noexcept { return across_; } ///< parts along a row
    std::int64_t parts() const noexcept { return frames_ * down_ * across_; }
    std::int64_t pieces() const noexcept { return parts() + (layers_ > 1 ? count_ : 0); }
    /// The piece that a whole chunk is.
    std::int64_t piece_of(std::int64_t chunk) const noexcept {
        return layers_ > 1 ? parts() + chunk : chunk;
    }

    /// What of the array a part holds; rows are those of all frames, counted through.
    struct Part {
        std::int64_t first_row = 0;
        std::int64_t rows = 0;
        std::int64_t first_column = 0;
        std::int64_t columns = 0;
    };
    Part part_at(std::int64_t index) const;

    /// The parts [first, second) that rows [first, first + rows) make up.
    /// @throws Error (defect) when the rows begin or end within a part or go beyond the array.
    std::pair<std::int64_t, std::int64_t> parts_of(std::int64_t first, std::int64_t rows) const;

    /// The chunk and the layer of it that a part is, or that a piece begins with.
    struct Place {
        std::int64_t chunk = 0;
        std::int64_t layer = 0;
    };
    Place place_of(std::int64_t piece) const;
    /// The part there; nothing where the array ends before it.
    std::optional<std::int64_t> part_in(const Place& place) const;

    /// The element where chunk `index` starts, one coordinate an axis.
    std::vector<std::int64_t> start_of(std::int64_t index) const;
    /// Bytes of what chunk `index` has of the array.
    std::int64_t cut_bytes(std::int64_t index) const;
    /// The chunk that an element is in.
    std::int64_t chunk_at(const std::vector<std::int64_t>& element) const;

  private:
    /// Axes that count frames.
    std::size_t leading_axes() const { return shape_.size() > 1 ? shape_.size() - 2 : 0; }

    std::vector<std::int64_t> shape_;
    std::vector<std::int64_t> chunk_;
    std::int64_t frames_ = 1;
    std::int64_t frame_rows_ = 1;
    std::int64_t columns_ = 1;
    std::int64_t chunk_rows_ = 1;
    std::int64_t chunk_columns_ = 1;
    std::int64_t element_bytes_ = 1;
    std::int64_t part_bytes_ = 0;
    std::int64_t layers_ = 1;
    std::int64_t count_ = 1;
    std::int64_t down_ = 1; ///< parts down a frame
    std::int64_t across_ = 1;
};

/// Copies a part's elements to `to`, rows of `line_columns` elements; columns beyond the array
/// become 0. The part's rows count from `from`, which holds whole rows of the array.
void gather_part(const ArrayInfo& array, const ChunkGrid::Part& part, std::int64_t line_columns,
                 const std::byte* from, std::byte* to);

} // namespace runner
