// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/channel.hpp"

#include <future>
#include <memory>

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(Channel, HandsOnInOrderUntilItIsClosedAndEmpty) {
    Channel<std::unique_ptr<int>> channel;
    channel.push(std::make_unique<int>(1));
    channel.push(std::make_unique<int>(2));
    channel.close();
    EXPECT_EQ(*channel.pop().value(), 1);
    EXPECT_EQ(*channel.pop().value(), 2);
    EXPECT_FALSE(channel.pop());
    EXPECT_FALSE(channel.pop());
}

TEST(Channel, ForgetsAllOnceItIsCut) {
    Channel<int> channel;
    channel.push(1);
    channel.cut();
    EXPECT_FALSE(channel.pop());
    channel.push(2);
    EXPECT_FALSE(channel.pop());
    channel.cut();
    EXPECT_FALSE(channel.pop());
}

TEST(Channel, WakesWhoWaits) {
    for (const auto end : {&Channel<int>::close, &Channel<int>::cut}) {
        Channel<int> values;
        Channel<int> taken;
        std::future<void> waiting = std::async(std::launch::async, [&] {
            while (const std::optional<int> value = values.pop()) {
                taken.push(*value);
            }
            taken.close();
        });
        values.push(7);
        EXPECT_EQ(taken.pop(), 7);
        (values.*end)();
        EXPECT_FALSE(taken.pop());
        waiting.get();
    }
}

} // namespace
} // namespace runner
