// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/time_left.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(TimeLeft, SaysNothingWithoutARate) {
    TimeLeft left;
    EXPECT_FALSE(left.update(0, 0));
    EXPECT_FALSE(left.update(0.5, 0.01)); // too soon
    EXPECT_FALSE(left.update(5, 0));
    TimeLeft slow;
    (void)slow.update(0, 0);
    EXPECT_FALSE(slow.update(10, 1e-9)); // longer than any job
}

TEST(TimeLeft, GoesDownWithTheClockAtOneRate) {
    TimeLeft left;
    (void)left.update(0, 0);
    for (double seconds = 0.2; seconds < 100; seconds += 0.2) {
        const std::optional<double> said = left.update(seconds, seconds / 100);
        if (seconds >= 1.2) {
            ASSERT_NEAR(said.value(), 100 - seconds, 1e-6) << seconds;
        }
    }
}

TEST(TimeLeft, ChunksThatComeOneByOneDoNotMakeItJump) {
    TimeLeft left;
    double before = 0;
    for (double seconds = 0; seconds < 200; seconds += 0.2) {
        const double share = std::floor(seconds / 5) * 5 / 200; // every five seconds
        const std::optional<double> said = left.update(seconds, share);
        if (seconds > 40) {
            // One chunk of six in the window more or less, and one that is under way.
            ASSERT_LE(std::abs(said.value() - (200 - seconds)), 5 + (200 - seconds) / 6) << seconds;
            ASSERT_LE(said.value(), before + 0.8) << seconds;
        }
        before = said.value_or(1e9);
    }
}

TEST(TimeLeft, FollowsANewRateWithoutAJump) {
    TimeLeft left;
    double before = 0;
    for (double seconds = 0; seconds < 300; seconds += 0.2) {
        // Half as fast after a minute; 0.4 are left then, which take 400 s more.
        const double share = seconds < 60 ? seconds / 100 : 0.6 + (seconds - 60) / 1000;
        const std::optional<double> said = left.update(seconds, share);
        if (seconds > 2) {
            ASSERT_LE(std::abs(said.value() - before), 20) << seconds;
        }
        if (seconds > 150) {
            ASSERT_NEAR(said.value(), 460 - seconds, 0.25 * (460 - seconds)) << seconds;
        }
        before = said.value_or(0);
    }
}

} // namespace
} // namespace runner
