// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/chunk_grid.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(ChunkGrid, CountsChunksAsHdf5DoesWorkedByHand) {
    // Two chunks along the first axis, the second cut; three along the next; two along the last.
    const ChunkGrid grid({ElementType::uint8, {3, 7, 5}}, {{2, 3, 4}});
    EXPECT_EQ(grid.count(), 12);
    EXPECT_EQ(grid.start_of(7), (std::vector<std::int64_t>{2, 0, 4}));
    EXPECT_EQ(grid.chunk_at({2, 2, 4}), 7);
    EXPECT_EQ(grid.chunk_at({1, 6, 3}), 4);
}

TEST(ChunkGrid, FindsTheChunkOfEveryElement) {
    const std::vector<std::int64_t> shape{5, 3, 11, 2};
    const ChunkGrid grid({ElementType::uint16, shape}, {{2, 3, 4, 1}});
    for (std::int64_t index = 0; index < grid.count(); ++index) {
        const std::vector<std::int64_t> start = grid.start_of(index);
        EXPECT_EQ(grid.chunk_at(start), index);
        std::vector<std::int64_t> last = start;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            last[axis] = std::min(start[axis] + grid.chunk()[axis], shape[axis]) - 1;
        }
        EXPECT_EQ(grid.chunk_at(last), index);
    }
}

} // namespace
} // namespace runner
