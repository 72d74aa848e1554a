// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/zarr_writer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace runner {
namespace {

using Extents = std::vector<std::int64_t>;

TEST(ZarrCube, HasAMebibyte) {
    EXPECT_EQ(zarr_cube({ElementType::uint8, {1009, 1013, 1019}}), (Extents{64, 128, 128}));
    EXPECT_EQ(zarr_cube({ElementType::uint16, {1009, 1013, 1019}}), (Extents{64, 64, 128}));
    EXPECT_EQ(zarr_cube({ElementType::float32, {1009, 1013, 1019}}), (Extents{64, 64, 64}));
    EXPECT_EQ(zarr_cube({ElementType::float64, {3, 509, 503, 499}}), (Extents{1, 32, 64, 64}));
}

TEST(ZarrCube, IsCutToTheArrayAndGrowsAlongItsOtherAxes) {
    EXPECT_EQ(zarr_cube({ElementType::float32, {5, 1013, 1019}}), (Extents{5, 128, 256}));
    EXPECT_EQ(zarr_cube({ElementType::uint16, {1, 1, 1}}), (Extents{1, 1, 1}));
    EXPECT_EQ(zarr_cube({ElementType::uint16, {700, 900}}), (Extents{512, 900}));
}

TEST(ZarrCube, HasNoMoreLayersThanMayWait) {
    // A layer of 64 MiB: 4 of them are 256 MiB.
    EXPECT_EQ(zarr_cube({ElementType::float32, {40, 4096, 4096}}), (Extents{4, 256, 256}));
    EXPECT_EQ(zarr_cube({ElementType::float32, {40, 32768, 32768}}), (Extents{1, 512, 512}));
}

} // namespace
} // namespace runner
