// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/row_set.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(RowSet, IsSortedAndJoined) {
    EXPECT_EQ(make_row_set({}), RowSet{});
    EXPECT_EQ(make_row_set({{7, 9}, {1, 3}, {4, 5}}), (RowSet{{1, 3}, {4, 5}, {7, 9}}));
    EXPECT_EQ(make_row_set({{3, 5}, {1, 3}}), (RowSet{{1, 5}})); // they touch
    EXPECT_EQ(make_row_set({{1, 4}, {2, 6}}), (RowSet{{1, 6}}));
    EXPECT_EQ(make_row_set({{1, 9}, {2, 4}, {5, 6}}), (RowSet{{1, 9}})); // one within another
    EXPECT_EQ(make_row_set({{1, 2}, {1, 7}, {1, 3}}), (RowSet{{1, 7}}));
}

TEST(RowSet, HasNoEmptyRanges) {
    EXPECT_EQ(make_row_set({{5, 5}, {8, 6}, {1, 2}}), (RowSet{{1, 2}}));
    EXPECT_EQ(make_row_set({{0, 0}}), RowSet{});
}

TEST(RowSet, IntersectsInWhatBothHave) {
    const RowSet a = {{1, 4}, {6, 10}};
    EXPECT_EQ(intersect(a, {{3, 7}}), (RowSet{{3, 4}, {6, 7}}));
    EXPECT_EQ(intersect({{3, 7}}, a), (RowSet{{3, 4}, {6, 7}}));
    EXPECT_EQ(intersect(a, a), a);
    EXPECT_EQ(intersect(a, {{4, 6}}), RowSet{}); // only touching
    EXPECT_EQ(intersect(a, {}), RowSet{});
    EXPECT_EQ(intersect(a, {{0, 2}, {7, 8}, {9, 20}}), (RowSet{{1, 2}, {7, 8}, {9, 10}}));
}

TEST(RowSet, SubtractsWhatTheOtherHas) {
    const RowSet a = {{1, 4}, {6, 10}};
    EXPECT_EQ(subtract(a, {{3, 7}}), (RowSet{{1, 3}, {7, 10}}));
    EXPECT_EQ(subtract(a, {{7, 8}}), (RowSet{{1, 4}, {6, 7}, {8, 10}}));
    EXPECT_EQ(subtract(a, a), RowSet{});
    EXPECT_EQ(subtract(a, {{0, 20}}), RowSet{});
    EXPECT_EQ(subtract(a, {{4, 6}, {10, 12}}), a);
    EXPECT_EQ(subtract(a, {}), a);
    EXPECT_EQ(subtract({}, a), RowSet{});
    EXPECT_EQ(subtract(a, {{1, 2}, {9, 10}}), (RowSet{{2, 4}, {6, 9}}));
}

TEST(RowSet, CountsItsRows) {
    EXPECT_EQ(count_rows({}), 0);
    EXPECT_EQ(count_rows({{1, 4}, {6, 10}}), 7);
}

} // namespace
} // namespace runner
