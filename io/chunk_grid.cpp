// SPDX-License-Identifier: BSD-3-Clause
#include "io/chunk_grid.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "io/row_geometry.hpp"
#include "io/rows.hpp"

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
    columns_ = shape_.back();
    chunk_columns_ = chunk_.back();
    if (axes >= 2) {
        frame_rows_ = shape_[axes - 2];
        chunk_rows_ = chunk_[axes - 2];
        frames_ = checked_product(std::span(shape_).first(axes - 2));
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
