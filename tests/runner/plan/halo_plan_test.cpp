// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/halo_plan.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace runner {
namespace {

Decomposition cut(std::int64_t rows, int ranks, std::int64_t halo, std::int64_t alignment = 1) {
    Decomposition d;
    d.rows = rows;
    d.halo = halo;
    d.alignment = alignment;
    d.ranks = ranks;
    return d;
}

TEST(HaloPlan, TradesWithTheSlabsNextToIt) {
    const HaloPlan plan = make_halo_plan(cut(30, 3, 4), 1);
    EXPECT_EQ(plan.slab, (RowRange{10, 20}));
    EXPECT_EQ(plan.held, (RowRange{6, 24}));
    EXPECT_EQ(plan.sends, (std::vector<HaloRows>{{0, {10, 14}}, {2, {16, 20}}}));
    EXPECT_EQ(plan.receives, (std::vector<HaloRows>{{0, {6, 10}}, {2, {20, 24}}}));
    EXPECT_EQ(plan.sent_rows(), 8);
    EXPECT_EQ(plan.received_rows(), 8);
}

TEST(HaloPlan, ReachesBeyondSmallSlabs) {
    const HaloPlan plan = make_halo_plan(cut(6, 6, 3), 0);
    EXPECT_EQ(plan.held, (RowRange{0, 4}));
    EXPECT_EQ(plan.receives, (std::vector<HaloRows>{{1, {1, 2}}, {2, {2, 3}}, {3, {3, 4}}}));
}

TEST(HaloPlan, HoldsEveryRowOnceAndBothSidesAgree) {
    for (const Decomposition& d : {cut(1, 4, 2), cut(5, 3, 1), cut(7, 9, 64), cut(100, 7, 13),
                                   cut(64, 5, 3, 16), cut(1000, 1, 0)}) {
        std::vector<int> owners(static_cast<std::size_t>(d.rows));
        for (int rank = 0; rank < d.ranks; ++rank) {
            const HaloPlan plan = make_halo_plan(d, rank);
            std::vector<int> held(static_cast<std::size_t>(d.rows));
            for (std::int64_t row = plan.slab.first; row < plan.slab.last; ++row) {
                ++owners[static_cast<std::size_t>(row)];
                ++held[static_cast<std::size_t>(row)];
            }
            for (const HaloRows& receive : plan.receives) {
                for (std::int64_t row = receive.rows.first; row < receive.rows.last; ++row) {
                    ++held[static_cast<std::size_t>(row)];
                }
                const HaloPlan other = make_halo_plan(d, receive.rank);
                EXPECT_EQ(1, std::count(other.sends.begin(), other.sends.end(),
                                        HaloRows{rank, receive.rows}));
            }
            for (std::int64_t row = 0; row < d.rows; ++row) {
                const bool near = !plan.slab.empty() && row >= plan.slab.first - d.halo &&
                                  row < plan.slab.last + d.halo;
                EXPECT_EQ(held[static_cast<std::size_t>(row)], near ? 1 : 0)
                    << d.rows << " rows, rank " << rank << ", row " << row;
            }
        }
        EXPECT_EQ(owners, std::vector<int>(static_cast<std::size_t>(d.rows), 1));
    }
}

} // namespace
} // namespace runner
