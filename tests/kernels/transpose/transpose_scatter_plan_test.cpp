// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/transpose_scatter_plan.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

alignas(64) const std::byte place[64] = {};

TransposeAxes axes_of(const std::array<std::int64_t, 3>& shape,
                      const std::array<int, 3>& permutation, int element_bytes) {
    return reduce_axes(dense_transposition(shape, permutation, element_bytes), place, place);
}

std::optional<ScatterPlan> chosen(const std::array<std::int64_t, 3>& shape,
                                  const std::array<int, 3>& permutation, int element_bytes) {
    return choose_scatter(axes_of(shape, permutation, element_bytes), place);
}

TEST(TransposeScatterPlan, ShortOddRowsAreTakenWhole) {
    const auto plan = chosen({257, 16384, 255}, {1, 2, 0}, 1);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->whole);
    EXPECT_TRUE(plan->at_words); // input rows of 16384 · 255 bytes
    EXPECT_EQ(257, plan->along);
    EXPECT_EQ(257, plan->pitch); // what leaves is one run
    EXPECT_EQ(128, plan->across);
    EXPECT_EQ(16, plan->vector);
    EXPECT_EQ(0, plan->margin);
}

TEST(TransposeScatterPlan, RowsMayBeFolded) {
    const auto plan = plan_scatter(axes_of({257, 16384, 255}, {2, 1, 0}, 1),
                                   {TileFold::along, 128, 256, 4}, place);
    ASSERT_TRUE(plan);
    EXPECT_EQ(257 * 16384, plan->b.count);
    EXPECT_EQ(257, plan->b.minor);
    EXPECT_EQ(255, plan->b.far);
    EXPECT_EQ(16384 * 255, plan->b.near);
    EXPECT_FALSE(plan->at_words);
    EXPECT_EQ(3, plan->margin); // bytes before a row in its first word
}

TEST(TransposeScatterPlan, LongOddRowsBeginAtVectors) {
    const auto plan = plan_scatter(axes_of({1021, 1023, 1025}, {0, 2, 1}, 1), {}, place);
    ASSERT_TRUE(plan);
    EXPECT_FALSE(plan->whole);
    EXPECT_EQ(16, plan->vector);
    EXPECT_EQ(0, (plan->pitch - 1023) % 16);
    EXPECT_EQ(1, plan->pitch % 2); // lanes meet in no bank
    EXPECT_EQ(0, plan->step % plan->align);
    EXPECT_EQ(plan->step + plan->align - 1, plan->along);
}

TEST(TransposeScatterPlan, PointsStayTogether) {
    const auto plan = plan_scatter(axes_of({32768, 10912, 3}, {1, 0, 2}, 1), {}, place);
    ASSERT_TRUE(plan);
    EXPECT_EQ(3, plan->point);
    EXPECT_EQ(3, plan->pitch % 128); // rows continue one another's banks
}

TEST(TransposeScatterPlan, OthersKeepTheirKernels) {
    EXPECT_FALSE(chosen({896, 1152, 1024}, {0, 2, 1}, 1));  // aligned tiles
    EXPECT_FALSE(chosen({3, 32768, 10912}, {1, 2, 0}, 1));  // interleaved
    EXPECT_FALSE(chosen({1021, 1023, 1025}, {0, 2, 1}, 1)); // gathered
    EXPECT_FALSE(chosen({257, 16384, 255}, {2, 1, 0}, 1));
    EXPECT_FALSE(chosen({257, 16384, 255}, {0, 2, 1}, 1));
    EXPECT_FALSE(chosen({32768, 10912, 3}, {1, 0, 2}, 1));
}

TEST(TransposeScatterPlan, NothingThatDoesNotFit) {
    const ScatterWish wish;
    EXPECT_FALSE(plan_scatter(axes_of({64, 64, 64}, {0, 2, 1}, 8), wish, place));
    EXPECT_FALSE(plan_scatter(axes_of({9, 10, 300}, {1, 0, 2}, 1), wish, place)); // long points
    EXPECT_FALSE(plan_scatter(axes_of({9, 10, 300}, {0, 1, 2}, 1), wish, place));
    ScatterWish folded;
    folded.fold = TileFold::along;
    EXPECT_FALSE(plan_scatter(axes_of({9, 10, 300}, {1, 2, 0}, 1), folded, place)); // two axes
    EXPECT_FALSE(plan_scatter(axes_of({301, 5, 301}, {2, 1, 0}, 4), folded, place));
}

} // namespace
} // namespace runner
