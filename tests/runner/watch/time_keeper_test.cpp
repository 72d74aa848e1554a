// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/time_keeper.hpp"

#include "tests/io/scratch_folder.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

using std::chrono::seconds;

/// A chunk that is being computed and takes so many seconds more, as far as is known.
ChunkInFlight counted(std::optional<double> seconds_left) {
    return {3, 10, true, true, seconds_left ? 0.5 : 0.0, seconds_left};
}

ChunkInFlight only_read() { return {4, 10}; }

TEST(DueLevel, NoMoreChunksOnceThoseInFlightTakeTheTimeThereIs) {
    EXPECT_EQ(due_level(100, {{counted(50)}}), StopLevel::none);
    EXPECT_EQ(due_level(52, {{counted(50)}}), StopLevel::none); // and a second to end
    EXPECT_EQ(due_level(50.5, {{counted(50)}}), StopLevel::finish_chunks);
    EXPECT_EQ(due_level(54, {{counted(50)}, 0, 2}), StopLevel::finish_chunks); // two commits
}

TEST(DueLevel, DropsWhatCannotEndInTime) {
    EXPECT_EQ(due_level(30, {{counted(50)}}), StopLevel::finish_chunks); // an estimate: it may
    EXPECT_EQ(due_level(20, {{counted(50)}}), StopLevel::drop_chunks);
    EXPECT_EQ(due_level(20, {{counted(50), counted(10)}}), StopLevel::finish_chunks);
    ChunkInFlight begun = counted(50);
    begun.share = 0.01;
    EXPECT_EQ(due_level(20, {{begun}}), StopLevel::finish_chunks);     // 50 s is a guess
    EXPECT_EQ(due_level(1, {{counted(0.1)}}), StopLevel::drop_chunks); // time to write it down only
    EXPECT_EQ(due_level(1, {{counted({})}}), StopLevel::drop_chunks);
    EXPECT_EQ(due_level(-5, {{only_read()}}), StopLevel::drop_chunks);
}

TEST(DueLevel, WithoutARateItWaits) {
    EXPECT_EQ(due_level(20, {{counted({})}, 100}), StopLevel::none);
    EXPECT_EQ(due_level(20, {{counted({}), only_read()}, 100}), StopLevel::none);
}

TEST(DueLevel, ChunksThatAreNotCountedTakeAsLongAsAnyDid) {
    const ChunkInFlight chunk{0, 10, false, true};
    EXPECT_EQ(due_level(10, {{chunk}, 4}), StopLevel::none);
    EXPECT_EQ(due_level(8, {{chunk}, 4}), StopLevel::finish_chunks);
    EXPECT_EQ(due_level(8, {{}, 4}), StopLevel::finish_chunks);   // a state: generations
    EXPECT_EQ(due_level(0.5, {{}, 4}), StopLevel::finish_chunks); // its checkpoint is not dropped
}

TEST(WaitingText, SaysForWhatAndHowLong) {
    EXPECT_EQ(waiting_text("signal INT", {{counted(11.2), only_read()}}, "chunk"),
              "stopping, signal INT: waits for 1 chunk in flight, some 12 s; a second signal drops "
              "it\n");
    EXPECT_EQ(waiting_text("--max-time", {{counted(3), counted({})}}, "box"),
              "stopping, --max-time: waits for 2 boxes in flight, some 3 s; a second signal drops "
              "them\n");
    EXPECT_EQ(waiting_text("signal TERM", {{only_read()}}, "chunk"), "stopping, signal TERM\n");
}

class TimeKeeperTest : public testing::Test {
  protected:
    TimeKeeperTest() {
        progress_.in_flight.watch(meter_);
        progress_.in_flight.begin(0, 10);
        progress_.in_flight.compute(0, 100, meter_, begin_);
        progress_.under_way = true;
    }

    TimeKeeper keeper(std::optional<int> deadline) {
        std::optional<TimeKeeper::Clock::time_point> point;
        if (deadline) {
            point = begin_ + seconds(*deadline);
        }
        return {stop_, progress_, point, [] { return 0.0; },
                [this](const std::string& line) { said_ += line; }};
    }

    ScratchFolder folder_;
    Stop stop_{{folder_ / "STOP", folder_ / "stop"}};
    RunProgress progress_;
    std::shared_ptr<WorkMeter> meter_ = std::make_shared<WorkMeter>();
    TimeKeeper::Clock::time_point begin_ = TimeKeeper::Clock::now();
    std::string said_;
};

TEST_F(TimeKeeperTest, EndsARunBeforeItsDeadlineWhateverIsInFlight) {
    TimeKeeper keeper = this->keeper(30);
    meter_->add(10);
    keeper.look(begin_ + seconds(2)); // 18 s more of 28
    EXPECT_EQ(stop_.level(), StopLevel::none);
    keeper.look(begin_ + seconds(4)); // it stands: 36 s more of 26
    EXPECT_EQ(stop_.level(), StopLevel::finish_chunks);
    EXPECT_EQ(said_,
              "stopping, --max-time: waits for 1 chunk in flight, some 36 s; a second signal "
              "drops it\n");
    EXPECT_NO_THROW(meter_->check());
    meter_->add(50);
    keeper.look(begin_ + seconds(20));
    EXPECT_NO_THROW(meter_->check()); // it may still end
    keeper.look(begin_ + seconds(29));
    EXPECT_THROW(meter_->check(), WorkDropped);
    EXPECT_EQ(stop_.level(), StopLevel::drop_chunks);
    EXPECT_EQ(stop_.reason(), "--max-time");
    EXPECT_EQ(said_.find('\n'), said_.size() - 1); // said once
}

TEST_F(TimeKeeperTest, WithoutADeadlineItSaysWhatAStopWaitsFor) {
    TimeKeeper keeper = this->keeper({});
    meter_->add(50);
    keeper.look(begin_ + seconds(1000));
    EXPECT_EQ(said_, "");
    stop_.ask("signal INT");
    keeper.look(begin_ + seconds(1000));
    keeper.look(begin_ + seconds(1001));
    EXPECT_EQ(said_,
              "stopping, signal INT: waits for 1 chunk in flight, some 16 min 40 s; a second "
              "signal drops it\n");
    EXPECT_NO_THROW(meter_->check());
}

} // namespace
} // namespace runner
