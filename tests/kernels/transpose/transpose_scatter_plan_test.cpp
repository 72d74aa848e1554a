// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/scatter/transpose_scatter_plan.hpp"

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
    EXPECT_TRUE(plan->at_words); // input rows of 16384 · 255 bytes
    EXPECT_EQ(257, plan->rows);
    EXPECT_EQ(16384 * 255, plan->count);
    EXPECT_EQ(16384 * 255, plan->in_pitch);
    EXPECT_EQ(128, plan->across);
    EXPECT_EQ(32, plan->in_lanes);
    EXPECT_EQ(0, plan->margin);
}

TEST(TransposeScatterPlan, RowsMayBeginWithinWords) {
    const auto plan = chosen({3, 201, 801}, {0, 2, 1}, 1);
    ASSERT_TRUE(plan);
    EXPECT_FALSE(plan->at_words);
    EXPECT_EQ(3, plan->margin); // bytes before a row in its first word
    EXPECT_EQ(3, plan->c.extent);
    EXPECT_EQ(201 * 801, plan->c.in);
    const auto wider = chosen({3, 201, 801}, {0, 2, 1}, 2);
    ASSERT_TRUE(wider);
    EXPECT_EQ(1, wider->margin);
    EXPECT_FALSE(plan_scatter(axes_of({257, 16384, 255}, {1, 2, 0}, 1), place + 1)->at_words);
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
    const auto fits = [](const std::array<std::int64_t, 3>& shape,
                         const std::array<int, 3>& permutation, int element_bytes) {
        return plan_scatter(axes_of(shape, permutation, element_bytes), place).has_value();
    };
    EXPECT_TRUE(fits({9, 10, 300}, {1, 2, 0}, 1));
    EXPECT_FALSE(chosen({9, 10, 300}, {1, 2, 0}, 1)); // but is too short
    EXPECT_FALSE(fits({9, 10, 300}, {1, 2, 0}, 4));   // wide elements
    EXPECT_FALSE(fits({8, 10, 300}, {1, 2, 0}, 1));   // even rows
    EXPECT_FALSE(fits({641, 10, 300}, {1, 2, 0}, 1)); // long ones
    EXPECT_FALSE(fits({9, 10, 300}, {2, 1, 0}, 1));   // no neighbours
    EXPECT_FALSE(fits({9, 10, 3}, {1, 0, 2}, 1));     // points
    EXPECT_FALSE(fits({9, 10, 300}, {0, 1, 2}, 1));
}

} // namespace
} // namespace runner
