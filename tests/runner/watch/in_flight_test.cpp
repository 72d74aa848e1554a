// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/in_flight.hpp"

#include "runner/watch/stages.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

using std::chrono::seconds;

class InFlightTest : public testing::Test {
  protected:
    InFlight::Clock::time_point at(int second) const { return begin_ + seconds(second); }

    InFlight flight_;
    std::shared_ptr<WorkMeter> meter_ = std::make_shared<WorkMeter>();

  private:
    InFlight::Clock::time_point begin_ = InFlight::Clock::now();
};

TEST_F(InFlightTest, CountsRowsThatAreWrittenNoLonger) {
    flight_.begin(1, 10);
    flight_.begin(2, 0); // of which the rows are not known before they are written
    flight_.wrote(1, 4);
    flight_.wrote(2, 4);
    flight_.wrote(3, 4);
    const auto chunks = flight_.chunks(at(0));
    ASSERT_EQ(chunks.size(), 2U);
    EXPECT_EQ(chunks[0].rows, 6);
    EXPECT_EQ(chunks[1].rows, 0);
}

TEST_F(InFlightTest, KnowsHowFarAChunkIsAndHowLongItTakes) {
    meter_->add(1000); // of chunks before
    flight_.watch(meter_);
    flight_.begin(7, 40);
    flight_.begin(8, 30);
    flight_.compute(7, 200, meter_, at(10));
    auto chunks = flight_.chunks(at(12));
    ASSERT_EQ(chunks.size(), 2U);
    EXPECT_TRUE(chunks[0].computing);
    EXPECT_EQ(chunks[0].share, 0);
    EXPECT_FALSE(chunks[0].seconds_left); // nothing counted: no rate
    EXPECT_FALSE(chunks[1].computing);
    meter_->add(50);
    chunks = flight_.chunks(at(12));
    EXPECT_DOUBLE_EQ(chunks[0].share, 0.25);
    EXPECT_DOUBLE_EQ(chunks[0].seconds_left.value(), 6); // a quarter took 2 s
    EXPECT_EQ(flight_.operations(), 1050);
    flight_.computed(7);
    chunks = flight_.chunks(at(13));
    EXPECT_EQ(chunks[0].share, 1);
    EXPECT_FALSE(chunks[0].computing);
    flight_.end(7);
    chunks = flight_.chunks(at(14));
    ASSERT_EQ(chunks.size(), 1U);
    EXPECT_EQ(chunks[0].number, 8);
}

TEST_F(InFlightTest, AChunkThatIsNotCountedHasNoShareUntilItIsDone) {
    flight_.watch(meter_);
    flight_.begin(0, 10);
    flight_.compute(0, 0, meter_, at(0));
    EXPECT_EQ(flight_.chunks(at(5))[0].share, 0);
    EXPECT_FALSE(flight_.chunks(at(5))[0].seconds_left);
    EXPECT_FALSE(flight_.chunks(at(5))[0].counts);
}

TEST_F(InFlightTest, DropsTheWorkOfAllQueuesAndOfLaterOnes) {
    flight_.watch(meter_);
    EXPECT_NO_THROW(meter_->check());
    flight_.drop();
    EXPECT_THROW(meter_->check(), WorkDropped);
    const auto later = std::make_shared<WorkMeter>();
    flight_.watch(later);
    EXPECT_THROW(later->check(), WorkDropped);
}

TEST_F(InFlightTest, RowsInWorkAreWholeOnlyOnceTheyAreWritten) {
    RunProgress progress;
    progress.rows_done = 100;
    progress.in_flight.begin(0, 50);
    progress.in_flight.compute(0, 10, meter_, at(0));
    meter_->add(5);
    EXPECT_DOUBLE_EQ(progress.rows_in_work(at(1)), 125);
    meter_->add(5);
    EXPECT_LT(progress.rows_in_work(at(2)), 150);
    progress.in_flight.computed(0);
    EXPECT_LT(progress.rows_in_work(at(2)), 150);
}

TEST(BusyTime, CountsWhatIsInProgress) {
    const auto begin = BusyTime::Clock::now();
    BusyTime busy;
    EXPECT_EQ(busy.seconds(begin), 0);
    busy.begin(begin + seconds(1));
    EXPECT_EQ(busy.seconds(begin + seconds(4)), 3);
    busy.begin(begin + seconds(3));  // a second one beside it
    busy.set(4, begin + seconds(5)); // the first is done, from 1 to 5
    busy.end();
    EXPECT_EQ(busy.seconds(begin + seconds(5)), 4);
    EXPECT_EQ(busy.seconds(begin + seconds(7)), 6); // the second still runs
    busy.set(7, begin + seconds(8));
    busy.end();
    EXPECT_EQ(busy.seconds(begin + seconds(20)), 7);
}

} // namespace
} // namespace runner
