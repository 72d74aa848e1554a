// SPDX-License-Identifier: BSD-3-Clause
#include "io/images/image_units.hpp"

#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "io/formats/rows_format.hpp"
#include "io/rows/written_format.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Extents = std::vector<std::int64_t>;

/// A level of blocks of these extents along the last three axes.
LevelSweep sweep_of(const ArrayInfo& image, const std::array<std::int64_t, 3>& factors) {
    CoarserLevel level;
    level.dataset.array = image;
    level.factors = factors;
    return {image, {level}, {1, 1, 1}};
}

bool is_within(const ArrayBox& box, const Extents& element) {
    bool is = true;
    for (std::size_t axis = 0; axis < element.size(); ++axis) {
        is = is && element[axis] >= box.start[axis] &&
             element[axis] < box.start[axis] + box.count[axis];
    }
    return is;
}

/// Whether a box begins and ends on multiples of the extents, or with the array.
bool is_on_borders(const ArrayBox& box, const Extents& extents, const Extents& shape) {
    bool is = true;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const std::int64_t end = box.start[axis] + box.count[axis];
        is = is && box.start[axis] % extents[axis] == 0 &&
             (end % extents[axis] == 0 || end == shape[axis]);
    }
    return is;
}

/// The chunks of the slabs of a unit of one file are those of the file, in their order.
void check_slabs(const ImageUnits& units, const ChunkGrid& grid, const ArrayBox& unit,
                 const FileOfChunks& file) {
    const std::vector<ArrayBox> slabs = units.slabs_of(unit);
    std::size_t next = 0;
    for (const ArrayBox& slab : slabs) {
        const std::size_t end = &slab == &slabs.back()
                                    ? file.chunks.size()
                                    : next + static_cast<std::size_t>(units.slab_chunks());
        for (; next < end; ++next) {
            const std::int64_t chunk = file.chunks.at(next);
            EXPECT_TRUE(chunk < 0 || is_within(slab, grid.start_of(chunk)));
        }
    }
    EXPECT_EQ(next, file.chunks.size());
}

void check(const OutputDataset& output, const std::array<std::int64_t, 3>& factors) {
    const ChunkGrid grid(output.array, output.layout);
    const LevelSweep sweep = sweep_of(output.array, factors);
    const ImageUnits units(output, grid, sweep);
    const FolderOfChunks& folder = *folder_of(output.layout);
    const Extents& shape = output.array.shape;
    Extents step(shape.size(), 1);
    for (std::size_t back = 1; back <= std::min<std::size_t>(shape.size(), 3); ++back) {
        step[shape.size() - back] = sweep.step().at(3 - back);
    }
    std::vector<int> made(static_cast<std::size_t>(folder.files(output)));
    std::int64_t elements = 0;
    for (std::int64_t index = 0; index < units.count(); ++index) {
        const ArrayBox unit = units.unit(index);
        elements += unit.elements();
        for (const ArrayBox& slab : units.slabs_of(unit)) {
            EXPECT_TRUE(is_on_borders(slab, step, shape));
            EXPECT_TRUE(is_on_borders(slab, grid.chunk(), shape));
            EXPECT_LE(slab.elements() * size_of(output.array.type), units.bytes());
        }
        for (const std::int64_t number : units.files_of(unit)) {
            ++made.at(static_cast<std::size_t>(number));
            const FileOfChunks file = folder.file(output, number);
            for (const std::int64_t chunk : file.chunks) {
                EXPECT_TRUE(chunk < 0 || is_within(unit, grid.start_of(chunk)));
            }
            if (units.slabs_of(unit).size() > 1) {
                check_slabs(units, grid, unit, file);
            }
        }
    }
    EXPECT_EQ(elements,
              std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
    EXPECT_TRUE(std::all_of(made.begin(), made.end(), [](int times) { return times == 1; }));
}

OutputDataset zarr_output(const Extents& shape, const Extents& chunk, const Extents& shard) {
    OutputDataset output{"x.zarr", "", {ElementType::uint16, shape}, {}};
    output.layout.format = written_format_of(output.file);
    output.layout.chunk = chunk;
    output.layout.shard = shard;
    return output;
}

std::int64_t chunk_bytes(const Extents& chunk) { return byte_count({ElementType::uint16, chunk}); }

TEST(ImageUnits, AreWholeFilesAndRegions) {
    std::mt19937 random(3);
    const auto upto = [&](std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(1, most)(random);
    };
    for (int round = 0; round < 200; ++round) {
        Extents shape(static_cast<std::size_t>(1 + upto(4)));
        Extents chunk;
        Extents shard;
        for (std::int64_t& extent : shape) {
            extent = upto(round % 2 == 0 ? 40 : 4000 / std::ssize(shape) / std::ssize(shape));
            const std::int64_t parts = upto(4);
            chunk.push_back(ceil_divide(extent, parts) + 1);
            shard.push_back(chunk.back() * upto(3));
        }
        for (; chunk_bytes(chunk) > 2 * GiB; shard.front() = chunk.front()) {
            chunk.front() = ceil_divide(chunk.front(), 2);
        }
        SCOPED_TRACE(shape_text(shape) + ", chunks " + shape_text(chunk) + ", shards " +
                     shape_text(shard));
        check(zarr_output(shape, chunk, shard), {upto(3), upto(4), upto(5)});
    }
}

TEST(ImageUnits, AreCutWhereAFileIsLarge) {
    for (const auto& [shape, chunk] :
         {std::pair(Extents{257, 1031, 900}, Extents{2, 500, 300}),
          std::pair(Extents{2, 3, 65, 1031, 900}, Extents{1, 1, 2, 300, 900}),
          std::pair(Extents{20011, 9001}, Extents{1000, 700})}) {
        const OutputDataset output = zarr_output(shape, chunk, {});
        const ChunkGrid grid(output.array, output.layout);
        const ImageUnits units(output, grid, sweep_of(output.array, {4, 4, 4}));
        EXPECT_GT(units.slabs_of(units.unit(0)).size(), 1U) << shape_text(shape);
        check(output, {4, 4, 4});
    }
}

} // namespace
} // namespace runner
