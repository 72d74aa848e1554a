// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/timeline.hpp"

#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <utility>

namespace runner {
namespace {

Bar event(int lane, Stage stage, double start, double end, std::int64_t bytes = 1) {
    return {lane, stage, start, end, end - start, 1, bytes, "chunk"};
}

TEST(Timeline, KeepsEveryEventWhileThereIsRoom) {
    Timeline timeline(4);
    timeline.add(event(1, Stage::write, 3, 4));
    timeline.add(event(0, Stage::write, 1, 2));
    timeline.add(event(0, Stage::read, 2, 3));
    timeline.add(event(0, Stage::read, 0, 1));
    EXPECT_EQ(timeline.resolution(), 0);
    EXPECT_EQ(timeline.bars(),
              (std::vector<Bar>{event(0, Stage::read, 0, 1), event(0, Stage::read, 2, 3),
                                event(0, Stage::write, 1, 2), event(1, Stage::write, 3, 4)}));
}

TEST(Timeline, WithoutRoomKeepsNothing) {
    Timeline timeline(0);
    timeline.add(event(0, Stage::read, 0, 1));
    EXPECT_TRUE(timeline.bars().empty());
}

TEST(MergeBars, JoinsNeighboursOfOneLaneAndStageWithinTheResolution) {
    const std::vector<Bar> merged =
        merge_bars({event(0, Stage::read, 0, 1, 10), event(0, Stage::read, 2, 3, 20),
                    event(0, Stage::read, 5, 6, 40), event(1, Stage::read, 3, 4, 80)},
                   3);
    ASSERT_EQ(merged.size(), 3U);
    EXPECT_EQ(merged[0], (Bar{0, Stage::read, 0, 3, 2, 2, 30, "chunk"}));
    EXPECT_EQ(merged[1], event(0, Stage::read, 5, 6, 40));
    EXPECT_EQ(merged[2], event(1, Stage::read, 3, 4, 80));
}

TEST(MergeBars, IsNeverBusierThanItIsLong) {
    const std::vector<Bar> merged =
        merge_bars({event(0, Stage::compute, 0, 4), event(0, Stage::compute, 1, 3)}, 10);
    ASSERT_EQ(merged.size(), 1U);
    EXPECT_EQ(merged[0].end, 4);
    EXPECT_EQ(merged[0].busy, 4);
}

TEST(Timeline, OfALongRunIsBoundedAndLosesNothingButDetail) {
    constexpr std::size_t most = 100;
    constexpr int events = 20000;
    Timeline timeline(most);
    std::vector<std::thread> threads;
    for (const Stage stage : {Stage::read, Stage::write}) {
        threads.emplace_back([&timeline, stage] {
            for (int i = 0; i < events; ++i) {
                timeline.add(event(i % 2, stage, i, i + 0.5));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const std::vector<Bar> bars = timeline.bars();
    EXPECT_LE(bars.size(), most);
    EXPECT_GE(bars.size(), most / 8);
    EXPECT_GT(timeline.resolution(), 0);
    std::map<Stage, std::int64_t> counts;
    double busy = 0;
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const Bar& bar = bars[i];
        counts[bar.stage] += bar.events;
        EXPECT_EQ(bar.bytes, bar.events);
        EXPECT_LE(bar.end - bar.start, std::max(0.5, timeline.resolution()));
        busy += bar.busy;
        if (i > 0 && bars[i - 1].lane == bar.lane && bars[i - 1].stage == bar.stage) {
            EXPECT_LE(bars[i - 1].end, bar.start);
        }
    }
    EXPECT_EQ(counts,
              (std::map<Stage, std::int64_t>{{Stage::read, events}, {Stage::write, events}}));
    EXPECT_NEAR(busy, 2 * 0.5 * events, 1e-6);
}

TEST(Timeline, HasABarForEveryLaneAndStageHoweverLittleRoom) {
    Timeline timeline(2);
    for (int i = 0; i < 1000; ++i) {
        timeline.add(event(i % 16, Stage::read, i, i + 1));
    }
    EXPECT_GE(timeline.bars().size(), 16U);
    EXPECT_LE(timeline.bars().size(), 32U);
}

} // namespace
} // namespace runner
