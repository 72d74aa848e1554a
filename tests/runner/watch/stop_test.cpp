// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/stop.hpp"

#include "tests/io/scratch_folder.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(Stop, AFileAsksAndTheOthersAreTold) {
    const ScratchFolder folder;
    Stop stop({folder / "STOP", folder / "stop"});
    stop.look();
    EXPECT_EQ(stop.level(), StopLevel::none);
    EXPECT_FALSE(std::filesystem::exists(folder / "stop"));
    std::ofstream(folder / "STOP").close();
    stop.look();
    EXPECT_EQ(stop.level(), StopLevel::finish_chunks);
    EXPECT_EQ(stop.reason(), "the file " + (folder / "STOP"));
    EXPECT_TRUE(std::filesystem::exists(folder / "stop"));
    Stop other({folder / "none", folder / "stop"});
    other.look();
    EXPECT_EQ(other.level(), StopLevel::finish_chunks);
    EXPECT_EQ(other.reason(), Stop::other_rank);
}

TEST(Stop, ManyRanksLookLessOften) {
    using std::chrono::milliseconds;
    EXPECT_EQ(Stop::interval(1), milliseconds(0));
    EXPECT_EQ(Stop::interval(8), milliseconds(80));
    EXPECT_EQ(Stop::interval(1000), milliseconds(2000));
    using Clock = std::chrono::steady_clock;
    const ScratchFolder folder;
    std::optional<Stop> stop;
    Clock::time_point begin;
    do { // again where this machine was too busy for two looks within two seconds
        std::filesystem::remove(folder / "STOP");
        begin = Clock::now();
        stop.emplace(std::vector{folder / "STOP"}, 1'000);
        stop->look();
        std::ofstream(folder / "STOP").close();
        stop->look();
    } while (Clock::now() - begin >= Stop::interval(1'000));
    EXPECT_EQ(stop->level(), StopLevel::none);
    stop->ask("--max-time"); // is heard at once
    EXPECT_EQ(stop->level(), StopLevel::finish_chunks);
}

TEST(Stop, TheFirstReasonCounts) {
    const ScratchFolder folder;
    Stop stop({folder / "stop"});
    stop.ask("--max-time");
    stop.ask("something else");
    EXPECT_EQ(stop.reason(), "--max-time");
}

/// Each in a process of its own, which says by its exit code what it saw.
int level_after(int signals) {
    take_signals_over();
    const Stop stop({"/nowhere/stop"});
    for (int i = 0; i < signals; ++i) {
        (void)std::raise(SIGTERM);
    }
    return stop.reason() == "signal TERM" ? static_cast<int>(stop.level()) : 99;
}

TEST(Stop, SignalsAskThenDropThenEnd) {
    EXPECT_EXIT(std::_Exit(level_after(1)), testing::ExitedWithCode(1), "");
    EXPECT_EXIT(std::_Exit(level_after(2)), testing::ExitedWithCode(2), "");
    EXPECT_EXIT(std::_Exit(level_after(3)), testing::ExitedWithCode(128 + SIGTERM), "");
}

TEST(Stop, AClosedPipeIsAnErrorOfTheCall) {
    EXPECT_EXIT(
        {
            take_signals_over();
            (void)std::raise(SIGPIPE);
            (void)std::raise(SIGXFSZ);
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace runner
