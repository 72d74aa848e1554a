// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/boundary.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

/// One period of the extension, from index 0 on, as the pictures in boundary.hpp draw it.
std::vector<std::int64_t> period_of(Boundary boundary, std::int64_t extent) {
    std::vector<std::int64_t> period;
    for (std::int64_t i = 0; i < extent; ++i) {
        period.push_back(i);
    }
    if (boundary == Boundary::reflect) {
        for (std::int64_t i = extent - 1; i >= 0; --i) {
            period.push_back(i);
        }
    }
    if (boundary == Boundary::mirror) {
        for (std::int64_t i = extent - 2; i >= 1; --i) {
            period.push_back(i);
        }
    }
    return period;
}

TEST(MapIndex, FollowsThePeriodicExtension) {
    for (const Boundary boundary : {Boundary::reflect, Boundary::mirror, Boundary::wrap}) {
        for (std::int64_t extent = 1; extent <= 7; ++extent) {
            const std::vector<std::int64_t> period = period_of(boundary, extent);
            const auto length = static_cast<std::int64_t>(period.size());
            std::int64_t phase = 0;
            for (std::int64_t i = -10 * length; i <= 10 * length; ++i) {
                ASSERT_EQ(period[static_cast<std::size_t>(phase)], map_index(i, extent, boundary))
                    << "index " << i << ", extent " << extent << ", boundary "
                    << static_cast<int>(boundary);
                phase = phase + 1 == length ? 0 : phase + 1;
            }
        }
    }
}

TEST(MapIndex, ConstantStandsForNoIndexBeyondTheBorder) {
    EXPECT_EQ(-1, map_index(-1, 3, Boundary::constant));
    EXPECT_EQ(0, map_index(0, 3, Boundary::constant));
    EXPECT_EQ(2, map_index(2, 3, Boundary::constant));
    EXPECT_EQ(-1, map_index(3, 3, Boundary::constant));
    EXPECT_EQ(-1, map_index(1000, 3, Boundary::constant));
}

TEST(MapIndex, NearestIsTheBorderItself) {
    EXPECT_EQ(0, map_index(-1000, 3, Boundary::nearest));
    EXPECT_EQ(0, map_index(-1, 3, Boundary::nearest));
    EXPECT_EQ(1, map_index(1, 3, Boundary::nearest));
    EXPECT_EQ(2, map_index(3, 3, Boundary::nearest));
    EXPECT_EQ(2, map_index(1000, 3, Boundary::nearest));
}

TEST(MapIndex, ExtentsBeyond32Bits) {
    constexpr std::int64_t extent = (std::int64_t{1} << 40) + 1;
    EXPECT_EQ(0, map_index(-1, extent, Boundary::reflect));
    EXPECT_EQ(1, map_index(-1, extent, Boundary::mirror));
    EXPECT_EQ(extent - 1, map_index(-1, extent, Boundary::wrap));
    EXPECT_EQ(extent - 3, map_index(extent + 2, extent, Boundary::reflect));
    EXPECT_EQ(extent - 4, map_index(extent + 2, extent, Boundary::mirror));
}

} // namespace
} // namespace runner
