// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/packed_boxes.hpp"

#include "base/rounding.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <string>

namespace runner {

PackedBoxes::PackedBoxes(const OutputDataset& output, const ChunkGrid& grid,
                         const PackedPieces& pieces)
    : size_(size_of(output.array.type)), volumes_(output.array.shape), grid_(grid), pieces_(pieces),
      parts_(layout_filters(shard_layout(output), output.array), grid.part_bytes()),
      chunks_(layout_filters(output.layout, output.array), grid.chunk_bytes()) {}

std::int64_t PackedBoxes::memory(const ChunkGrid& grid) {
    constexpr std::int64_t unpacking = 3; // packed, unpacked, and between two filters
    return unpacking * (grid.part_bytes() + (grid.layers() > 1 ? grid.chunk_bytes() : 0));
}

void PackedBoxes::read(const VolumeBox& box, std::byte* to) {
    const std::int64_t down = ceil_divide(grid_.frame_rows(), grid_.chunk_rows());
    const std::int64_t across = ceil_divide(grid_.columns(), grid_.chunk_columns());
    const std::int64_t row_end = ceil_divide(box.start[1] + box.count[1], grid_.chunk_rows());
    const std::int64_t column_end = ceil_divide(box.start[2] + box.count[2], grid_.chunk_columns());
    for (std::int64_t i = box.start[1] / grid_.chunk_rows(); i < row_end; ++i) {
        for (std::int64_t j = box.start[2] / grid_.chunk_columns(); j < column_end; ++j) {
            for (std::int64_t z = 0; z < box.count[0]; ++z) {
                const std::int64_t frame = box.volume * volumes_.extents[0] + box.start[0] + z;
                copy((frame * down + i) * across + j, i, j, box,
                     to + z * box.count[1] * box.count[2] * size_);
            }
        }
    }
}

void PackedBoxes::copy(std::int64_t part, std::int64_t i, std::int64_t j, const VolumeBox& box,
                       std::byte* layer) {
    const std::byte* const from = unpacked(part);
    const std::int64_t top = i * grid_.chunk_rows();
    const std::int64_t left = j * grid_.chunk_columns();
    const std::int64_t row_begin = std::max(top, box.start[1]);
    const std::int64_t row_end = std::min(top + grid_.chunk_rows(), box.start[1] + box.count[1]);
    const std::int64_t begin = std::max(left, box.start[2]);
    const std::int64_t end = std::min(left + grid_.chunk_columns(), box.start[2] + box.count[2]);
    for (std::int64_t row = row_begin; row < row_end; ++row) {
        std::copy_n(from + ((row - top) * grid_.chunk_columns() + begin - left) * size_,
                    (end - begin) * size_,
                    layer + ((row - box.start[1]) * box.count[2] + begin - box.start[2]) * size_);
    }
}

const std::byte* PackedBoxes::unpacked(std::int64_t part) {
    const ChunkGrid::Place place = grid_.place_of(part);
    const std::int64_t chunk = grid_.piece_of(place.chunk);
    if (chunk != part && chunk == chunk_) {
        return elements_.data() + place.layer * grid_.part_bytes();
    }
    if (chunk != part && pieces_.read(chunk, packed_)) {
        elements_ = chunks_.unpack(packed_, 0, "chunk " + std::to_string(place.chunk));
        chunk_ = chunk;
        return elements_.data() + place.layer * grid_.part_bytes();
    }
    pieces_.take(part, packed_);
    // At the array's end it may be cut.
    const std::int64_t least = grid_.part_at(part).rows * grid_.chunk_columns() * size_;
    return parts_.unpack(packed_, 0, "part " + std::to_string(part) + " of a shard", least).data();
}

} // namespace runner
