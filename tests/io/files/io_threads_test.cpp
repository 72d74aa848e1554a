// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/io_threads.hpp"

#include <atomic>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(IoThreads, DoEveryItemOnceInEveryRound) {
    for (const int count : {1, 2, 5}) {
        IoThreads threads(count);
        EXPECT_EQ(threads.threads(), count);
        for (const std::int64_t items : {0, 1, 3, 1000}) {
            std::vector<std::atomic<int>> done(static_cast<std::size_t>(items));
            threads.run(items, [&](std::int64_t index, int thread) {
                EXPECT_LT(thread, count);
                ++done[static_cast<std::size_t>(index)];
            });
            for (const auto& times : done) {
                EXPECT_EQ(times, 1);
            }
        }
    }
}

TEST(IoThreads, WorkTogether) {
    IoThreads threads(3);
    std::atomic<int> waiting = 0;
    // Ends only when three threads are inside at once.
    threads.run(3, [&](std::int64_t /*index*/, int /*thread*/) {
        ++waiting;
        while (waiting < 3) {
            std::this_thread::yield();
        }
    });
    EXPECT_EQ(waiting, 3);
}

TEST(IoThreads, ThrowTheFirstFailureAndGoOnWithTheNextRound) {
    IoThreads threads(4);
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> inside = 0;
        std::string message;
        try {
            threads.run(100, [&](std::int64_t index, int /*thread*/) {
                // All four first items fail together.
                ++inside;
                while (inside < 4) {
                    std::this_thread::yield();
                }
                throw std::runtime_error(std::to_string(index));
            });
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
        EXPECT_EQ(message, "0");
        EXPECT_EQ(inside, 4);
    }
    std::atomic<int> done = 0;
    threads.run(10, [&](std::int64_t /*index*/, int /*thread*/) { ++done; });
    EXPECT_EQ(done, 10);
}

} // namespace
} // namespace runner
