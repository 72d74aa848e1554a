// SPDX-License-Identifier: BSD-3-Clause
#include "runner/ranks/no_delay.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace runner {
namespace {

int no_delay_of(int file) {
    int value = -1;
    socklen_t bytes = sizeof(value);
    return ::getsockopt(file, IPPROTO_TCP, TCP_NODELAY, &value, &bytes) == 0 ? value : -1;
}

TEST(SendWithoutDelay, SetsTheTcpSocketsThatAreOpen) {
    const int first = ::socket(AF_INET, SOCK_STREAM, 0);
    const int packets = ::socket(AF_INET, SOCK_DGRAM, 0);
    const int second = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_GE(std::min({first, packets, second}), 0);
    ASSERT_EQ(no_delay_of(first), 0);
    send_without_delay();
    EXPECT_EQ(no_delay_of(first), 1);
    EXPECT_EQ(no_delay_of(second), 1);
    const int later = ::socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(no_delay_of(later), 0);
    for (const int file : {first, packets, second, later}) {
        ::close(file);
    }
}

} // namespace
} // namespace runner
