// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/phases.hpp"

#include <numeric>

#include <gtest/gtest.h>

namespace runner {
namespace {

double sum(const std::vector<Phase>& phases) {
    return std::accumulate(phases.begin(), phases.end(), 0.0,
                           [](double all, const Phase& phase) { return all + phase.seconds; });
}

TEST(Phases, AreGaplessFromTheStartOfTheProcess) {
    const Phases::Clock::time_point main_began = Phases::Clock::now() - std::chrono::seconds(3);
    Phases phases(main_began, "a");
    phases.begin("b");
    phases.begin("a");
    const std::vector<Phase> before = phases.until_now();
    const std::vector<Phase> all = phases.until_now();
    const std::chrono::duration<double> lived = Phases::Clock::now() - main_began;
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].name, "loading");
    EXPECT_EQ(all[0].seconds, 0); // the process is younger than 3 s
    EXPECT_EQ(all[1].name, "a");
    EXPECT_GE(all[1].seconds, 3);
    EXPECT_GE(sum(all), sum(before));
    EXPECT_LE(sum(all), lived.count());
}

TEST(Phases, GiveAPartOfOneANameOfItsOwn) {
    Phases phases(Phases::Clock::now() - std::chrono::seconds(10), "memory");
    phases.split("stream", 4);
    phases.begin("end");
    phases.split("nothing", 5); // more than there is
    const std::vector<Phase> all = phases.until_now();
    ASSERT_EQ(all.size(), 5U);
    EXPECT_EQ(all[1].name, "memory");
    EXPECT_GE(all[1].seconds, 6);
    EXPECT_EQ(all[2].name, "stream");
    EXPECT_EQ(all[2].seconds, 4);
    EXPECT_LT(all[3].seconds + all[4].seconds, all[1].seconds);
}

} // namespace
} // namespace runner
