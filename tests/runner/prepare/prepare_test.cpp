// SPDX-License-Identifier: BSD-3-Clause
#include "runner/prepare/plan_request.hpp"

#include "base/sizes.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(AutomaticParts, AreAsManyAsCanBeWrittenAtOnce) {
    EXPECT_EQ(automatic_parts(8 * GiB, 1, 16), 8);
    EXPECT_EQ(automatic_parts(8 * GiB, 1, 64), 16);
    EXPECT_EQ(automatic_parts(8 * GiB, 2, 8), 8);
    EXPECT_EQ(automatic_parts(8 * GiB, 1, 2), 1);
    EXPECT_EQ(automatic_parts(8 * GiB, 1, 1), 1);
    EXPECT_EQ(automatic_parts(200 * MiB, 1, 16), 3);
    EXPECT_EQ(automatic_parts(1000, 4, 16), 1);
    EXPECT_EQ(automatic_parts(8192 * GiB, 64, 16), 256);
}

} // namespace
} // namespace runner
