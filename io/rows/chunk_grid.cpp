// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/chunk_grid.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"

#include <algorithm>
#include <utility>

namespace runner {

void check_chunk(const ArrayInfo& array, std::span<const std::int64_t> chunk,
                 const std::string& where) {
    const auto refuse = [&](const std::string& why, const std::string& try_this) {
        throw Error(ExitCode::usage,
                    {"cannot store the output in such chunks", where, why, try_this});
    };
    const std::size_t axes = array.shape.size();
    if (chunk.size() != axes) {
        refuse(fmt::format("the output {} has {} axes", shape_text(array.shape), axes),
               "Give one extent for each axis");
    }
    std::vector<std::int64_t> extents;
    for (std::size_t axis = 0; axis < axes; ++axis) {
        if (chunk[axis] < 1) {
            refuse("an extent is below 1", "Give extents of 1 or more");
        }
        extents.push_back(std::min(chunk[axis], array.shape[axis]));
    }
    const std::int64_t bytes = byte_count({array.type, std::move(extents)});
    // HDF5 counts a chunk's bytes in 32 bits, the filters' results too.
    constexpr std::int64_t most = 4 * GiB - 64 * MiB;
    if (bytes > most) {
        refuse("a chunk has " + size_text(bytes) + ", and each has to have less than 4 GiB",
               "Give smaller extents");
    }
}

ChunkGrid::ChunkGrid(const ArrayInfo& array, const OutputLayout& layout)
    : shape_(array.shape),
      chunk_(layout.is_hdf5() ? layout.chunk : layout.format->packed->chunk(array, layout)) {
    check_chunk(array, chunk_, "output.chunk = " + shape_text(chunk_));
    const std::size_t axes = shape_.size();
    for (std::size_t axis = 0; axis < axes; ++axis) {
        chunk_[axis] = std::min(chunk_[axis], shape_[axis]);
        count_ *= ceil_divide(shape_[axis], chunk_[axis]);
    }
    const std::size_t rows = row_axes(shape_) - 1; // the axis that counts a frame's rows
    frame_rows_ = shape_[rows];
    chunk_rows_ = chunk_[rows];
    if (axes > 1) {
        columns_ = shape_.back();
        chunk_columns_ = chunk_.back();
        frames_ = checked_product(std::span(shape_).first(rows));
        layers_ = checked_product(std::span(chunk_).first(rows));
    }
    element_bytes_ = size_of(array.type);
    part_bytes_ = byte_count({array.type, {chunk_rows_, chunk_columns_}});
    down_ = ceil_divide(frame_rows_, chunk_rows_);
    across_ = ceil_divide(columns_, chunk_columns_);
}

std::vector<std::int64_t> ChunkGrid::start_of(std::int64_t index) const {
    std::vector<std::int64_t> start(shape_.size(), 0);
    for (std::size_t axis = shape_.size(); axis-- > 0;) {
        const std::int64_t along = ceil_divide(shape_[axis], chunk_[axis]);
        start[axis] = index % along * chunk_[axis];
        index /= along;
    }
    return start;
}

std::int64_t ChunkGrid::cut_bytes(std::int64_t index) const {
    const std::vector<std::int64_t> start = start_of(index);
    std::int64_t bytes = element_bytes_;
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
        bytes *= std::min(chunk_[axis], shape_[axis] - start[axis]);
    }
    return bytes;
}

std::int64_t ChunkGrid::chunk_at(const std::vector<std::int64_t>& element) const {
    std::int64_t index = 0;
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
        index = index * ceil_divide(shape_[axis], chunk_[axis]) + element[axis] / chunk_[axis];
    }
    return index;
}

ChunkGrid::Part ChunkGrid::part_at(std::int64_t index) const {
    const std::int64_t across = index % across_;
    const std::int64_t down = index / across_ % down_;
    const std::int64_t frame = index / across_ / down_;
    Part part;
    part.first_row = frame * frame_rows_ + down * chunk_rows_;
    part.rows = std::min(chunk_rows_, frame_rows_ - down * chunk_rows_);
    part.first_column = across * chunk_columns_;
    part.columns = std::min(chunk_columns_, columns_ - part.first_column);
    return part;
}

ChunkGrid::Place ChunkGrid::place_of(std::int64_t piece) const {
    if (piece >= parts()) {
        return {piece - parts(), 0};
    }
    const std::int64_t in_frame = down_ * across_;
    std::int64_t frame = piece / in_frame;
    Place place;
    std::int64_t chunks = 1; // below one step of the axis
    std::int64_t layers = 1;
    for (std::size_t axis = leading_axes(); axis-- > 0;) {
        const std::int64_t at = frame % shape_[axis];
        frame /= shape_[axis];
        place.chunk += at / chunk_[axis] * chunks;
        place.layer += at % chunk_[axis] * layers;
        chunks *= ceil_divide(shape_[axis], chunk_[axis]);
        layers *= chunk_[axis];
    }
    place.chunk = place.chunk * in_frame + piece % in_frame;
    return place;
}

std::optional<std::int64_t> ChunkGrid::part_in(const Place& place) const {
    const std::int64_t in_frame = down_ * across_;
    std::int64_t chunk = place.chunk / in_frame;
    std::int64_t layer = place.layer;
    std::int64_t frame = 0;
    std::int64_t frames = 1; // below one step of the axis
    for (std::size_t axis = leading_axes(); axis-- > 0;) {
        const std::int64_t along = ceil_divide(shape_[axis], chunk_[axis]);
        const std::int64_t at = chunk % along * chunk_[axis] + layer % chunk_[axis];
        if (at >= shape_[axis]) {
            return std::nullopt;
        }
        chunk /= along;
        layer /= chunk_[axis];
        frame += at * frames;
        frames *= shape_[axis];
    }
    return frame * in_frame + place.chunk % in_frame;
}

std::pair<std::int64_t, std::int64_t> ChunkGrid::parts_of(std::int64_t first,
                                                          std::int64_t rows) const {
    // A border: where a part starts, or a frame ends.
    const auto is_border = [this](std::int64_t row) {
        return row % frame_rows_ % chunk_rows_ == 0;
    };
    const auto part_from = [this](std::int64_t row) {
        return (row / frame_rows_ * down_ + row % frame_rows_ / chunk_rows_) * across_;
    };
    const std::int64_t end = first + rows;
    if (first < 0 || rows < 0 || end > frames_ * frame_rows_ || !is_border(first) ||
        !is_border(end)) {
        throw Error(ExitCode::defect,
                    {"rows are written off the chunks' borders", shape_text(shape_),
                     fmt::format("rows {} to {}", first, end), ""});
    }
    return {part_from(first), part_from(end)};
}

void gather_part(const ArrayInfo& array, const ChunkGrid::Part& part, std::int64_t line_columns,
                 const std::byte* from, std::byte* to) {
    const std::int64_t size = size_of(array.type);
    const std::int64_t line = line_columns * size;
    const std::int64_t used = part.columns * size;
    from += part.first_row * row_bytes(array) + part.first_column * size;
    for (std::int64_t row = 0; row < part.rows; ++row) {
        std::copy_n(from + row * row_bytes(array), used, to + row * line);
        std::fill_n(to + row * line + used, line - used, std::byte{0});
    }
}

} // namespace runner
