// SPDX-License-Identifier: BSD-3-Clause
#include "io/levels/level_sweep.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Triple = std::array<std::int64_t, 3>;

/// Two levels of an image, the second twice as coarse as the first.
LevelSweep sweep_of(const std::vector<std::int64_t>& shape, const Triple& first,
                    const Triple& grain) {
    const ArrayInfo image{ElementType::uint64, shape};
    std::vector<CoarserLevel> levels;
    for (const std::int64_t times : {1, 2}) {
        CoarserLevel level;
        level.dataset.array = image;
        for (std::size_t i = 0; i < first.size(); ++i) {
            level.factors[i] = first[i] * times;
            const std::size_t axis = shape.size() - first.size() + i;
            level.dataset.array.shape[axis] = (shape[axis] - 1) / level.factors[i] + 1;
        }
        levels.push_back(level);
    }
    return {image, levels, grain};
}

/// Pieces that hold the numbers of their elements in the level, one after the other, are read back
/// by boxes.
void check(const std::vector<std::int64_t>& shape, const Triple& first, const Triple& grain) {
    const LevelSweep sweep = sweep_of(shape, first, grain);
    for (std::size_t index = 0; index < sweep.levels().size(); ++index) {
        SCOPED_TRACE(std::to_string(shape.back()) + ", level " + std::to_string(index));
        const CoarserLevel& level = sweep.levels()[index];
        const Volumes all(level.dataset.array.shape);
        const auto& [depth, height, width] = all.extents;
        const auto count = static_cast<std::size_t>(all.count * depth * height * width);
        std::vector<std::int64_t> stored(count, -1);
        for (std::int64_t region = 0; region < sweep.regions(); ++region) {
            const VolumeBox piece = box_of_level(sweep.region(region), level.factors);
            const std::int64_t begin = sweep.begin_of(index, piece);
            each_run(all, piece, [&](std::int64_t at, std::int64_t in_piece, std::int64_t run) {
                for (std::int64_t i = 0; i < run; ++i) {
                    std::int64_t& place = stored.at(static_cast<std::size_t>(begin + in_piece + i));
                    EXPECT_EQ(place, -1);
                    place = at + i;
                }
            });
        }
        for (const Triple& start : {Triple{0, 0, 0}, Triple{depth / 2, height / 3, width / 4}}) {
            const VolumeBox box{all.count - 1,
                                start,
                                {depth - start[0], (height - start[1] + 1) / 2, width - start[2]}};
            std::vector<std::int64_t> read(static_cast<std::size_t>(box.elements()), -1);
            sweep.each_run(index, box, [&](std::int64_t at, std::int64_t in_box, std::int64_t run) {
                for (std::int64_t i = 0; i < run; ++i) {
                    read.at(static_cast<std::size_t>(in_box + i)) =
                        stored.at(static_cast<std::size_t>(at + i));
                }
            });
            each_run(all, box, [&](std::int64_t at, std::int64_t in_box, std::int64_t run) {
                for (std::int64_t i = 0; i < run; ++i) {
                    ASSERT_EQ(read[static_cast<std::size_t>(in_box + i)], at + i);
                }
            });
        }
    }
}

TEST(LevelSweep, PiecesFollowOneAnother) {
    check({7, 11, 13}, {1, 2, 2}, {1, 3, 5});
    check({2, 9, 31, 1}, {2, 2, 1}, {4, 4, 4});
    check({1, 1, 97}, {1, 1, 3}, {1, 1, 7});
    check({33, 130, 1031}, {2, 2, 2}, {1, 16, 64}); // several regions along every axis
}

} // namespace
} // namespace runner
