// SPDX-License-Identifier: BSD-3-Clause
#include "io/chunk_grid.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "io/row_geometry.hpp"
#include "io/row_writers.hpp"

namespace runner {
namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

[[noreturn]] void refuse(const OutputLayout& layout, const std::string& why,
                         const std::string& try_this) {
    throw Error(ExitCode::usage, {"cannot store the output in such chunks",
                                  "output.chunk = " + shape_text(layout.chunk), why, try_this});
}

} // namespace

ChunkGrid::ChunkGrid(const ArrayInfo& array, const OutputLayout& layout)
    : shape_(array.shape), chunk_(layout.chunk) {
    const std::size_t axes = shape_.size();
    if (chunk_.size() != axes) {
        refuse(layout,
               "the output " + shape_text(shape_) + " has " + std::to_string(axes) + " axes",
               "Give one extent for each axis");
    }
    for (std::size_t axis = 0; axis < axes; ++axis) {
        if (chunk_[axis] < 1) {
            refuse(layout, "an extent is below 1", "Give extents of 1 or more");
        }
        chunk_[axis] = std::min(chunk_[axis], shape_[axis]);
        if (axis + 2 < axes && chunk_[axis] != 1) {
            refuse(layout, "a chunk spans several frames",
                   "Give extent 1 for all axes but the last two");
        }
    }
    const std::size_t rows = row_axes(shape_) - 1; // the axis that counts a frame's rows
    frame_rows_ = shape_[rows];
    chunk_rows_ = chunk_[rows];
    if (axes > 1) {
        columns_ = shape_.back();
        chunk_columns_ = chunk_.back();
        frames_ = checked_product(std::span(shape_).first(rows));
    }
    chunk_bytes_ = byte_count({array.type, chunk_});
    // HDF5 counts a chunk's bytes in 32 bits, the filters' results too.
    constexpr std::int64_t most = 4 * GiB - 64 * MiB;
    if (chunk_bytes_ > most) {
        refuse(layout,
               "a chunk has " + size_text(chunk_bytes_) + ", and HDF5 allows less than 4 GiB",
               "Give smaller extents");
    }
    down_ = divide_up(frame_rows_, chunk_rows_);
    across_ = divide_up(columns_, chunk_columns_);
}

std::vector<std::int64_t> ChunkGrid::start_of(std::int64_t index) const {
    std::vector<std::int64_t> start(shape_.size(), 0);
    for (std::size_t axis = shape_.size(); axis-- > 0;) {
        const std::int64_t along = divide_up(shape_[axis], chunk_[axis]);
        start[axis] = index % along * chunk_[axis];
        index /= along;
    }
    return start;
}

ChunkGrid::Chunk ChunkGrid::chunk_at(std::int64_t index) const {
    const std::int64_t across = index % across_;
    const std::int64_t down = index / across_ % down_;
    const std::int64_t frame = index / across_ / down_;
    Chunk chunk;
    chunk.first_row = frame * frame_rows_ + down * chunk_rows_;
    chunk.rows = std::min(chunk_rows_, frame_rows_ - down * chunk_rows_);
    chunk.first_column = across * chunk_columns_;
    chunk.columns = std::min(chunk_columns_, columns_ - chunk.first_column);
    return chunk;
}

std::pair<std::int64_t, std::int64_t> ChunkGrid::chunks_of(std::int64_t first,
                                                           std::int64_t rows) const {
    // A border: where a chunk starts, or a frame ends.
    const auto is_border = [this](std::int64_t row) {
        return row % frame_rows_ % chunk_rows_ == 0;
    };
    const auto chunk_from = [this](std::int64_t row) {
        return (row / frame_rows_ * down_ + row % frame_rows_ / chunk_rows_) * across_;
    };
    const std::int64_t end = first + rows;
    if (first < 0 || rows < 0 || end > frames_ * frame_rows_ || !is_border(first) ||
        !is_border(end)) {
        throw Error(ExitCode::defect,
                    {"rows are written off the chunks' borders", shape_text(shape_),
                     "rows " + std::to_string(first) + " to " + std::to_string(end), ""});
    }
    return {chunk_from(first), chunk_from(end)};
}

void gather_chunk(const ArrayInfo& array, const ChunkGrid::Chunk& chunk, std::int64_t line_columns,
                  const std::byte* from, std::byte* to) {
    const std::int64_t size = size_of(array.type);
    const std::int64_t line = line_columns * size;
    const std::int64_t used = chunk.columns * size;
    from += chunk.first_row * row_bytes(array) + chunk.first_column * size;
    for (std::int64_t row = 0; row < chunk.rows; ++row) {
        std::copy_n(from + row * row_bytes(array), used, to + row * line);
        std::fill_n(to + row * line + used, line - used, std::byte{0});
    }
}

std::int64_t row_alignment(const ArrayInfo& array, const OutputLayout& layout) {
    for (const std::int64_t extent : array.shape) {
        if (extent < 1) {
            throw Error(ExitCode::usage, {"cannot store the output", shape_text(array.shape),
                                          "an axis has no extent", "Check the job's parameters"});
        }
    }
    if (array.shape.empty()) {
        throw Error(ExitCode::usage, {"cannot store the output", "", "it has no axes", ""});
    }
    if (layout.format == FileFormat::sand) {
        return sand_alignment(array, layout);
    }
    if (layout.chunk.empty()) {
        if (layout.compression != Compression::none) {
            throw Error(ExitCode::usage, {"cannot compress the output", "output.compression",
                                          "HDF5 compresses chunks, and output.chunk is not given",
                                          "Give output.chunk, as [256, 4096]"});
        }
        return 1;
    }
    return ChunkGrid(array, layout).chunk_rows();
}

} // namespace runner
