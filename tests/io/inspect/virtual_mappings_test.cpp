// SPDX-License-Identifier: BSD-3-Clause
// Runs of selections, counted by hand. Whole virtual datasets are in tests/end_to_end/.
#include "io/inspect/virtual_parts.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Each run as its first element and how many there are; {-1} where there is nothing.
Numbers runs(const Selection& selection, const Numbers& shape) {
    const std::optional<std::vector<ElementRun>> found = runs_of(selection, shape);
    if (!found) {
        return {-1};
    }
    Numbers all;
    for (const ElementRun& run : *found) {
        all.push_back(run.first);
        all.push_back(run.count);
    }
    return all;
}

/// The numbers of boxes, by their first and last corners.
Numbers boxes(std::size_t axes, const Numbers& corners, const Numbers& shape) {
    return runs({false, axes, corners}, shape);
}

TEST(RunsOf, AllIsOneRun) { EXPECT_EQ(runs({true, 0, {}}, {3, 4, 5}), (Numbers{0, 60})); }

TEST(RunsOf, ABoxHasOneForEachOfItsRows) {
    EXPECT_EQ(boxes(1, {2, 4}, {10}), (Numbers{2, 3}));
    EXPECT_EQ(boxes(2, {1, 2, 3, 4}, {5, 6}), (Numbers{8, 3, 14, 3, 20, 3}));
    EXPECT_EQ(boxes(3, {0, 1, 0, 1, 1, 1}, {2, 3, 4}), (Numbers{4, 2, 16, 2}));
}

TEST(RunsOf, WholeAxesMakeOneRun) {
    EXPECT_EQ(boxes(2, {1, 0, 3, 5}, {5, 6}), (Numbers{6, 18}));
    EXPECT_EQ(boxes(3, {1, 0, 0, 1, 2, 3}, {2, 3, 4}), (Numbers{12, 12}));
    EXPECT_EQ(boxes(3, {0, 1, 0, 1, 2, 3}, {2, 3, 4}), (Numbers{4, 8, 16, 8}));
    EXPECT_EQ(boxes(3, {0, 0, 0, 1, 2, 3}, {2, 3, 4}), (Numbers{0, 24}));
}

TEST(RunsOf, SeveralBoxesAreInOrderAndJoined) {
    // The second row's two halves, behind them the first's right half.
    EXPECT_EQ(boxes(2, {1, 0, 1, 1, 1, 2, 1, 3, 0, 2, 0, 3}, {2, 4}), (Numbers{2, 6}));
    EXPECT_EQ(boxes(1, {7, 8, 1, 2}, {10}), (Numbers{1, 2, 7, 2}));
}

TEST(RunsOf, AreNothingWhereAnElementIsThereTwice) {
    EXPECT_EQ(boxes(1, {1, 4, 4, 6}, {10}), (Numbers{-1}));
    EXPECT_EQ(boxes(2, {0, 0, 1, 1, 1, 1, 1, 1}, {2, 4}), (Numbers{-1}));
}

TEST(RunsOf, AreNothingBeyondTheShape) {
    EXPECT_EQ(boxes(1, {0, 9}, {10}), (Numbers{0, 10}));
    EXPECT_EQ(boxes(1, {0, 10}, {10}), (Numbers{-1}));
    EXPECT_EQ(boxes(1, {-1, 3}, {10}), (Numbers{-1}));
    EXPECT_EQ(boxes(1, {4, 3}, {10}), (Numbers{-1}));
    EXPECT_EQ(boxes(2, {0, 0, 2, 0}, {2, 4}), (Numbers{-1}));
    EXPECT_EQ(boxes(1, {0, 3}, {2, 4}), (Numbers{-1})); // of other axes
}

TEST(RunsOf, AreNothingWhereTheyAreVeryMany) {
    const std::int64_t most = 1 << 20;
    EXPECT_EQ(boxes(2, {0, 0, most - 1, 0}, {most + 1, 2}).size(), std::size_t(2 * most));
    EXPECT_EQ(boxes(2, {0, 0, most, 0}, {most + 1, 2}), (Numbers{-1}));
}

} // namespace
} // namespace runner
