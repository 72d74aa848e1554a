// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/watchdog.hpp"

#include "tests/io/scratch_folder.hpp"

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace runner {
namespace {

void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

/// What the watchdog says within so many looks.
std::optional<Error> look(Watchdog& watchdog, int looks) {
    std::optional<Error> error;
    for (int i = 0; i < looks && !error; ++i) {
        wait_a_little();
        error = watchdog.look();
    }
    return error;
}

TEST(Watchdog, SaysWhereAStreamStandsStill) {
    const ScratchFolder folder;
    Heartbeat heartbeat(folder / "", 0, 1, "node1");
    RunProgress progress;
    Watchdog watchdog(progress, heartbeat, 0.2);
    EXPECT_FALSE(look(watchdog, 10)); // nothing is under way
    progress.under_way = true;
    progress.begun[static_cast<std::size_t>(Stage::read)] = 8;
    const std::optional<Error> error = look(watchdog, 100);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::launch);
    EXPECT_EQ(error->text().where,
              "read at chunk 7, compute not begun, hash not begun, write not begun");
}

TEST(Watchdog, IsContentWhileSomethingMoves) {
    const ScratchFolder folder;
    Heartbeat heartbeat(folder / "", 0, 1, "node1");
    RunProgress progress;
    progress.under_way = true;
    Watchdog watchdog(progress, heartbeat, 0.5);
    for (int i = 0; i < 30; ++i) {
        ++progress.steps;
        EXPECT_FALSE(look(watchdog, 1));
    }
}

TEST(Watchdog, IsContentWhileAChunkIsComputed) {
    const ScratchFolder folder;
    Heartbeat heartbeat(folder / "", 0, 1, "node1");
    RunProgress progress;
    const auto meter = std::make_shared<WorkMeter>();
    progress.in_flight.watch(meter);
    progress.under_way = true;
    Watchdog watchdog(progress, heartbeat, 0.5);
    for (int i = 0; i < 30; ++i) {
        meter->add(1); // no stage finishes anything
        EXPECT_FALSE(look(watchdog, 1));
    }
    EXPECT_TRUE(look(watchdog, 100)); // it stands
}

TEST(Watchdog, WatchesTheSurveyBeforeTheStream) {
    const ScratchFolder folder;
    Heartbeat heartbeat(folder / "", 0, 1, "node1");
    RunProgress progress;
    progress.surveying = true;
    Watchdog watchdog(progress, heartbeat, 0.5);
    for (int i = 0; i < 30; ++i) {
        ++progress.steps;
        EXPECT_FALSE(look(watchdog, 1));
    }
    progress.surveyed_rows = 77;
    const std::optional<Error> error = look(watchdog, 100);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->text().where, "the survey of the input, after 77 rows");
}

TEST(Watchdog, FindsNothingWhenToldSo) {
    const ScratchFolder folder;
    Heartbeat heartbeat(folder / "", 0, 1, "node1");
    RunProgress progress;
    progress.under_way = true;
    Watchdog watchdog(progress, heartbeat, 0);
    EXPECT_FALSE(look(watchdog, 10));
}

TEST(Heartbeat, TakesNoSignFromAFileThatIsBeingMade) {
    const ScratchFolder folder;
    std::ofstream(folder / "alive-1").close();
    Heartbeat watching(folder / "", 0, 2, "node1");
    std::ofstream(folder / "alive-1") << "3 no";
    watching.beat();
    EXPECT_EQ(watching.silence(), 0);
    EXPECT_EQ(watching.watched(), "rank 1");
}

TEST(Heartbeat, NamesTheRankThatFellSilent) {
    const ScratchFolder folder;
    Heartbeat watching(folder / "", 2, 3, "node1");
    watching.beat();
    wait_a_little();
    watching.beat();
    EXPECT_EQ(watching.silence(), 0); // not begun is not silent
    Heartbeat watched(folder / "", 0, 3, "node7");
    watching.beat();
    EXPECT_EQ(watching.silence(), 0);
    EXPECT_EQ(watching.watched(), "rank 0 on node7");
    wait_a_little();
    watching.beat();
    EXPECT_GE(watching.silence(), 0.05);
    watched.beat();
    watching.beat();
    EXPECT_EQ(watching.silence(), 0);
}

} // namespace
} // namespace runner
