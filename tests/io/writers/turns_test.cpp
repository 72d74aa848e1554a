// SPDX-License-Identifier: BSD-3-Clause
// Items have their turns in order, and a failure is reported as what it is.
#include "io/writers/turns.hpp"

#include "io/files/io_threads.hpp"

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

struct Failure {};

TEST(Turns, AreInOrder) {
    constexpr std::int64_t items = 200;
    IoThreads threads(4);
    Turns turns;
    std::vector<std::int64_t> order;
    threads.run(items, [&](std::int64_t item, int /*thread*/) {
        turns.take(
            item,
            [&] {
                if (item % 3 == 0) {
                    std::this_thread::yield();
                }
            },
            [&] { order.push_back(item); });
    });
    std::vector<std::int64_t> wanted(items);
    std::iota(wanted.begin(), wanted.end(), 0);
    EXPECT_EQ(order, wanted);
}

/// The first item waits until the last one has failed; the one between waits for the first.
TEST(Turns, TellTheFailureOfAnItemBehindOnesThatWait) {
    IoThreads threads(3);
    Turns turns;
    std::atomic<bool> has_failed = false;
    std::atomic<int> had_turns = 0;
    const auto run = [&] {
        threads.run(3, [&](std::int64_t item, int /*thread*/) {
            try {
                turns.take(
                    item,
                    [&] {
                        if (item == 2) {
                            throw Failure();
                        }
                        if (item == 0) {
                            has_failed.wait(false);
                        }
                    },
                    [&] { ++had_turns; });
            } catch (const Failure&) {
                has_failed = true;
                has_failed.notify_all();
                throw;
            }
        });
    };
    EXPECT_THROW(run(), Failure);
    EXPECT_EQ(had_turns, 2);
}

TEST(Turns, EndWhereAnItemBeforeHasFailed) {
    IoThreads threads(3);
    Turns turns;
    const auto run = [&] {
        threads.run(3, [&](std::int64_t item, int /*thread*/) {
            turns.take(
                item, [] {},
                [&] {
                    if (item == 0) {
                        throw Failure();
                    }
                });
        });
    };
    EXPECT_THROW(run(), Failure);
}

} // namespace
} // namespace runner
