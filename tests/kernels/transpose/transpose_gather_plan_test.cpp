// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/gather/transpose_gather_plan.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

alignas(64) const std::byte place[64] = {};

using Shape = std::array<std::int64_t, 3>;

TransposeAxes axes_of(const Shape& shape, const std::array<int, 3>& permutation,
                      int element_bytes) {
    return reduce_axes(dense_transposition(shape, permutation, element_bytes), place, place);
}

std::optional<GatherPlan> chosen(const Shape& shape, const std::array<int, 3>& permutation,
                                 int element_bytes) {
    return choose_gather(axes_of(shape, permutation, element_bytes));
}

TEST(TransposeGatherPlan, TilesHaveRoomForPartsThatBeginAnywhere) {
    const auto plan = chosen({1021, 1023, 1025}, {0, 2, 1}, 1);
    ASSERT_TRUE(plan);
    EXPECT_EQ(TileFold::none, plan->fold);
    EXPECT_EQ(256 - 32, plan->across); // 16 vectors, less what precedes a row's part
    EXPECT_EQ(256, plan->step);
    EXPECT_EQ((256 + 31) * 257 + 1, plan->shared_bytes); // 287 rows, each a byte further on
}

TEST(TransposeGatherPlan, RowsWithEndsAreFolded) {
    const auto plan = chosen({257, 16384, 255}, {2, 1, 0}, 1);
    ASSERT_TRUE(plan);
    EXPECT_EQ(TileFold::along, plan->fold);
    EXPECT_EQ(257 * 16384, plan->b.count);
    EXPECT_EQ(257, plan->b.minor);
    EXPECT_EQ(255, plan->b.far);
    EXPECT_EQ(16384 * 255, plan->b.near);
    const auto even = chosen({256, 1023, 255}, {2, 1, 0}, 1);
    ASSERT_TRUE(even);
    EXPECT_EQ(TileFold::none, even->fold);
}

TEST(TransposeGatherPlan, ThreadsMeetInNoBank) {
    // Both pitches odd: 1023 · 1025 is 15 and 1 beyond multiples of 16, so every other column
    // begins a word further on.
    const auto plan = chosen({1021, 1023, 1025}, {0, 2, 1}, 1);
    ASSERT_TRUE(plan);
    EXPECT_FALSE(plan->turned);
    EXPECT_EQ(1, plan->spread);
    EXPECT_EQ(~31, plan->skew);
    // All vectors of an odd square begin alike.
    const auto square = chosen({16, 1023, 1023}, {0, 2, 1}, 1);
    ASSERT_TRUE(square);
    EXPECT_TRUE(square->turned);
    // Input rows an even number of elements apart do not move banks themselves.
    const auto even = chosen({513, 400, 1026}, {0, 2, 1}, 1);
    ASSERT_TRUE(even);
    EXPECT_EQ(~15, even->skew);
}

TEST(TransposeGatherPlan, PointsStayTogether) {
    const auto plan = chosen({32768, 10912, 3}, {1, 0, 2}, 1);
    ASSERT_TRUE(plan);
    EXPECT_EQ(3, plan->point);
    EXPECT_EQ((512 - 32) / 3, plan->across);
    EXPECT_TRUE(chosen({8191, 6527, 5}, {1, 0, 2}, 4));
    EXPECT_FALSE(chosen({999, 1001, 35}, {1, 0, 2}, 1)); // long points
}

TEST(TransposeGatherPlan, OthersKeepTheirKernels) {
    EXPECT_FALSE(chosen({3, 32768, 10912}, {1, 2, 0}, 1)); // interleaved
    EXPECT_FALSE(chosen({16384, 10912, 3}, {0, 2, 1}, 2));
    EXPECT_FALSE(chosen({1021, 1023, 257}, {0, 2, 1}, 4)); // floats whose batches are small
    EXPECT_FALSE(chosen({1023, 257, 129}, {1, 2, 0}, 4));
    EXPECT_TRUE(chosen({1021, 1023, 257}, {1, 2, 0}, 4));
}

TEST(TransposeGatherPlan, NothingThatDoesNotFit) {
    const GatherSize size = gather_sizes(1, false).back();
    EXPECT_FALSE(plan_gather(axes_of({65, 63, 67}, {0, 2, 1}, 8), TileFold::none, size));
    EXPECT_FALSE(plan_gather(axes_of({9, 10, 301}, {1, 0, 2}, 1), TileFold::none, size));
    EXPECT_FALSE(plan_gather(axes_of({9, 10, 301}, {0, 1, 2}, 1), TileFold::none, size));
    EXPECT_FALSE(plan_gather(axes_of({9, 10, 301}, {1, 2, 0}, 1), TileFold::along, size));
    EXPECT_FALSE(plan_gather(axes_of({9, 10, 301}, {2, 1, 0}, 1), TileFold::across, size));
}

} // namespace
} // namespace runner
