// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/split/transpose_split_plan.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

alignas(64) const std::byte place[64] = {};

TransposeAxes axes_of(const std::array<std::int64_t, 3>& shape,
                      const std::array<int, 3>& permutation, int element_bytes) {
    return reduce_axes(dense_transposition(shape, permutation, element_bytes), place, place);
}

std::optional<SplitPlan> chosen(const std::array<std::int64_t, 3>& shape,
                                const std::array<int, 3>& permutation, int element_bytes) {
    return choose_split(axes_of(shape, permutation, element_bytes));
}

TEST(TransposeSplitPlan, PointsBecomePlanes) {
    const auto plan = chosen({16384, 5440, 3}, {2, 0, 1}, 4);
    ASSERT_TRUE(plan);
    EXPECT_EQ(3, plan->components);
    EXPECT_EQ(16384 * 5440, plan->along); // two axes that stay neighbours
    EXPECT_EQ(1, plan->others);
    EXPECT_EQ(16384 * 5440 * 4, plan->out_component);
    EXPECT_EQ(10 * 128, plan->step); // a warp writes 128 floats at once
    EXPECT_FALSE(plan->skewed);
    EXPECT_EQ(4, plan->bank_turns); // a vector's words, none of which meet
    EXPECT_EQ((10 * 128 + 8) * 12 + 32, plan->shared_bytes);
}

TEST(TransposeSplitPlan, PointsOfRowsBecomeRows) {
    const auto plan = chosen({32768, 10912, 3}, {0, 2, 1}, 1);
    ASSERT_TRUE(plan);
    EXPECT_EQ(10912, plan->along);
    EXPECT_EQ(32768, plan->others);
    EXPECT_EQ(3 * 10912, plan->in_other);
    EXPECT_EQ(3 * 10912, plan->out_other);
    EXPECT_EQ(10912, plan->out_component);
    EXPECT_EQ(16, plan->bank_turns);
}

TEST(TransposeSplitPlan, RunsAreSkewedWhereThreadsWouldMeet) {
    const auto plan = chosen({8192, 8192, 8}, {2, 0, 1}, 2);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->skewed);
    EXPECT_EQ(32, plan->bank_turns); // 64 if not
    EXPECT_FALSE(chosen({8192, 4096, 8}, {2, 0, 1}, 4)->skewed);
}

TEST(TransposeSplitPlan, OthersKeepTheirKernels) {
    EXPECT_FALSE(chosen({3, 16384, 10912}, {1, 2, 0}, 1)); // the other way round
    EXPECT_FALSE(chosen({16384, 5440, 3}, {2, 1, 0}, 4));  // runs that cross
    EXPECT_FALSE(chosen({16384, 5440, 3}, {1, 0, 2}, 4));  // points that stay whole
    EXPECT_FALSE(chosen({16384, 5440, 3}, {2, 0, 1}, 8));  // wide elements
    EXPECT_FALSE(chosen({4, 40, 3}, {0, 2, 1}, 4));        // short runs
    EXPECT_FALSE(chosen({16384, 8192, 8}, {0, 2, 1}, 1));  // threads that meet
}

} // namespace
} // namespace runner
