// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/packed.hpp"
#include "runner/batch/batch_order.hpp"

#include "base/sizes.hpp"
#include "runner/batch/batch_tally.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace runner::batch {
namespace {

using Places = std::vector<std::size_t>;

PlannedDataset dataset(std::int64_t mebibytes, Fate fate = Fate::to_do) {
    PlannedDataset planned;
    planned.fate = fate;
    planned.listed.bytes = mebibytes * MiB;
    return planned;
}

TEST(Order, IsThePlansOnOneRank) {
    Plan plan;
    plan.datasets = {dataset(1), dataset(900), dataset(5, Fate::done), dataset(3, Fate::redo),
                     dataset(7, Fate::refused)};
    plan.datasets[1].ended_badly = true;
    const Order order = batch_order(plan, 1);
    EXPECT_EQ(order.together, Places());
    EXPECT_EQ(order.side_by_side, (Places{0, 3, 1}));
}

TEST(Order, HasTheLargeOnesFirst) {
    Plan plan;
    plan.datasets = {dataset(10), dataset(40), dataset(1000), dataset(20), dataset(500)};
    // A rank's fair share is 392 MiB.
    const Order order = batch_order(plan, 4);
    EXPECT_EQ(order.together, (Places{2, 4}));
    EXPECT_EQ(order.side_by_side, (Places{1, 3, 0}));
}

TEST(Order, LeavesSmallOnesToOneRank) {
    Plan plan;
    plan.datasets = {dataset(16), dataset(17)};
    const Order order = batch_order(plan, 64);
    EXPECT_EQ(order.together, (Places{1}));
    EXPECT_EQ(order.side_by_side, (Places{0}));
}

TEST(Order, TriesOnOneRankWhatEndedBadly) {
    Plan plan;
    plan.datasets = {dataset(500), dataset(1), dataset(600), dataset(2)};
    plan.datasets[0].ended_badly = true;
    plan.datasets[2].ended_badly = true;
    plan.datasets[2].needs_all_ranks = true; // there is no other way
    const Order order = batch_order(plan, 2);
    EXPECT_EQ(order.together, (Places{2}));
    EXPECT_EQ(order.side_by_side, (Places{3, 1, 0}));
}

TEST(Tally, AddsUpRanks) {
    Tally first;
    first.done = {1, 5};
    first.failed = {{7, ExitCode::output}, {3, ExitCode::input}};
    Tally second;
    second.already = {1, 8};
    second.failed = {{7, ExitCode::output}};
    Tally all;
    EXPECT_EQ(all.code(), ExitCode::ok);
    all.add(unpacked<Tally>(packed(first)));
    all.add(second);
    EXPECT_EQ(all.done, first.done);
    EXPECT_EQ(all.already, second.already);
    EXPECT_EQ(all.failed, first.failed);
    EXPECT_EQ(all.settled(), 5);
    EXPECT_FALSE(all.stopped);
    EXPECT_EQ(all.code(), ExitCode::input); // of the first in the plan
    second.stopped = true;
    all.add(second);
    EXPECT_EQ(all.code(), ExitCode::stopped);
}

} // namespace
} // namespace runner::batch
