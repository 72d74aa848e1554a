// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/border_plan.hpp"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(BorderPlan, NeighboursTradeTheirHalo) {
    const Decomposition d{1, 12, 2, RowBorder::inside, 1, 2, 3};
    const BorderPlan middle = make_border_plan(d, 1);
    EXPECT_EQ(middle.own, (RowSet{{4, 8}}));
    ASSERT_EQ(middle.receives.size(), 2U);
    EXPECT_EQ(middle.receives[0].rank, 0);
    EXPECT_EQ(middle.receives[0].rows, (RowSet{{2, 4}}));
    EXPECT_EQ(middle.receives[1].rows, (RowSet{{8, 10}}));
    ASSERT_EQ(middle.sends.size(), 2U);
    EXPECT_EQ(middle.sends[0].rows, (RowSet{{4, 6}}));
    EXPECT_EQ(middle.sends[1].rows, (RowSet{{6, 8}}));
    EXPECT_EQ(middle.held_rows(), 8); // four of its own, two from either side
}

TEST(BorderPlan, IsOfTheFirstAndTheLastFrameOfASlab) {
    // Three frames of 4 rows, cut at rows 6: two ranks, each with a frame and a half.
    const Decomposition d{3, 4, 1, RowBorder::inside, 1, 2, 2};
    ASSERT_EQ(d.slab(0), (RowRange{0, 6}));
    const BorderPlan first = make_border_plan(d, 0);
    EXPECT_EQ(first.own, (RowSet{{5, 6}}));
    ASSERT_EQ(first.receives.size(), 1U);
    EXPECT_EQ(first.receives[0].rows, (RowSet{{6, 7}}));
    const BorderPlan second = make_border_plan(d, 1);
    EXPECT_EQ(second.own, (RowSet{{6, 7}}));
    EXPECT_EQ(second.receives[0].rows, (RowSet{{5, 6}}));
}

TEST(BorderPlan, OfWholeFramesTradesNothing) {
    for (const RowBorder border : {RowBorder::inside, RowBorder::periodic}) {
        const Decomposition d{4, 6, 3, border, 1, 2, 2};
        ASSERT_EQ(d.slab(0), (RowRange{0, 12}));
        EXPECT_EQ(make_border_plan(d, 0).held_rows(), 0);
        EXPECT_EQ(make_border_plan(d, 1).held_rows(), 0);
    }
}

TEST(BorderPlan, WithoutAHaloTradesNothing) {
    const BorderPlan plan = make_border_plan({1, 12, 0, RowBorder::periodic, 1, 2, 3}, 1);
    EXPECT_TRUE(plan.own.empty() && plan.sends.empty() && plan.receives.empty());
}

TEST(BorderPlan, AHaloLargerThanASlabComesFromSeveralRanks) {
    const Decomposition d{1, 8, 3, RowBorder::inside, 1, 1, 4};
    const BorderPlan plan = make_border_plan(d, 0);
    ASSERT_EQ(plan.receives.size(), 2U);
    EXPECT_EQ(plan.receives[0].rows, (RowSet{{2, 4}}));
    EXPECT_EQ(plan.receives[1].rank, 2);
    EXPECT_EQ(plan.receives[1].rows, (RowSet{{4, 5}}));
}

TEST(BorderPlan, AWrappedFrameIsARing) {
    const Decomposition d{1, 12, 2, RowBorder::periodic, 1, 2, 3};
    const BorderPlan plan = make_border_plan(d, 0);
    ASSERT_EQ(plan.receives.size(), 2U);
    EXPECT_EQ(plan.receives[0].rows, (RowSet{{4, 6}}));
    EXPECT_EQ(plan.receives[1].rank, 2);
    EXPECT_EQ(plan.receives[1].rows, (RowSet{{10, 12}}));
}

TEST(BorderPlan, OneRankKeepsTheRowsItNeedsOutOfOrder) {
    const Decomposition d{1, 12, 2, RowBorder::periodic, 1, 4, 1};
    EXPECT_EQ(make_border_plan(d, 0).held_rows(), 0);
    EXPECT_EQ(early_rows(d, 0, 0, 12), (RowSet{{0, 2}, {10, 12}}));
}

TEST(EarlyRows, AreThoseThatTheOtherEndNeeds) {
    const Decomposition d{2, 12, 2, RowBorder::periodic, 1, 4, 1};
    EXPECT_EQ(early_rows(d, 1, 0, 12), (RowSet{{12, 14}, {22, 24}}));
    EXPECT_EQ(early_rows(d, 0, 1, 12), (RowSet{{1, 2}, {11, 12}})); // row 0 is another's
    EXPECT_EQ(early_rows(d, 0, 0, 6), RowSet{});
    EXPECT_EQ(early_rows(d, 0, 0, 11), (RowSet{{0, 1}, {10, 11}})); // behind and before it
}

TEST(EarlyRows, AreNoneWithoutARingOrWhereAllAreNear) {
    Decomposition d{1, 12, 11, RowBorder::periodic, 1, 4, 1};
    EXPECT_EQ(early_rows(d, 0, 0, 12), (RowSet{{0, 12}}));
    d.halo = 1;
    EXPECT_EQ(early_rows(d, 0, 0, 12), (RowSet{{0, 1}, {11, 12}}));
    d.halo = 12;
    EXPECT_EQ(early_rows(d, 0, 0, 12), RowSet{});
    d.halo = 0;
    EXPECT_EQ(early_rows(d, 0, 0, 12), RowSet{});
    d = {1, 12, 2, RowBorder::inside, 1, 4, 1};
    EXPECT_EQ(early_rows(d, 0, 0, 12), RowSet{});
}

/// What one rank sends is what the other receives, and every row of a window is own or received.
TEST(BorderPlan, SendsMatchReceivesAndCoverEveryWindow) {
    std::mt19937_64 random(7);
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    for (int trial = 0; trial < 1500; ++trial) {
        Decomposition d{pick(1, 3), pick(1, 60), pick(0, 70), RowBorder::inside, 1, 1, 1};
        d.border = pick(0, 1) == 1 ? RowBorder::periodic : RowBorder::inside;
        d.chunk_rows = pick(1, 2 * d.rows);
        d.ranks = static_cast<int>(pick(1, 9));
        SCOPED_TRACE(testing::Message()
                     << "trial " << trial << ": frames " << d.frames << " rows " << d.rows
                     << " halo " << d.halo << " chunk " << d.chunk_rows << " ranks " << d.ranks);
        std::vector<BorderPlan> plans;
        for (int rank = 0; rank < d.ranks; ++rank) {
            plans.push_back(make_border_plan(d, rank));
        }
        for (int rank = 0; rank < d.ranks; ++rank) {
            std::set<std::int64_t> reachable;
            for (std::int64_t row = d.slab(rank).first; row < d.slab(rank).last; ++row) {
                reachable.insert(row);
            }
            for (const Transfer& receive : plans[static_cast<std::size_t>(rank)].receives) {
                bool matched = false;
                for (const Transfer& send : plans[static_cast<std::size_t>(receive.rank)].sends) {
                    matched = matched || (send.rank == rank && send.rows == receive.rows);
                }
                ASSERT_TRUE(matched);
                for (const RowRange& range : receive.rows) {
                    for (std::int64_t row = range.first; row < range.last; ++row) {
                        reachable.insert(row);
                    }
                }
            }
            ChunkCursor cursor(d, d.slab(rank));
            while (const std::optional<Chunk> chunk = cursor.next()) {
                const RowBlock& block = chunk->block;
                for (const RowSource& run :
                     row_sources(d, chunk->frame,
                                 {block.in_first, block.in_first + block.frames * block.in_rows})) {
                    for (std::int64_t i = 0; block.frames == 1 && i < run.count; ++i) {
                        ASSERT_TRUE(reachable.contains(run.source + i)) << run.source + i;
                    }
                }
            }
        }
    }
}

} // namespace
} // namespace runner
