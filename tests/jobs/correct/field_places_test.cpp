// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/correct/field_places.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Frames = std::vector<std::int64_t>;

TEST(FieldPlaces, FramesThatFollowOneAnotherAreAGroup) {
    const Frames flats = {0, 1, 2, 7, 9, 10};
    EXPECT_EQ(frame_groups(flats, flats), (std::vector<FrameGroup>{{0, 3}, {3, 1}, {4, 2}}));
    // Every second of them; no other frame lies between 0 and 2.
    EXPECT_EQ(frame_groups({0, 2, 9}, flats), (std::vector<FrameGroup>{{0, 2}, {2, 1}}));
    EXPECT_TRUE(frame_groups({}, flats).empty());
}

TEST(FieldPlaces, WeightsAreSharesOfTheWayFromGroupToGroup) {
    const std::vector<FieldPlace> places = places_among({1, 5, 6}, {0, 1, 2, 4, 5.5, 6, 9});
    EXPECT_EQ(places, (std::vector<FieldPlace>{{0, 0, 0},
                                               {0, 1, 0},
                                               {0, 1, 0.25F},
                                               {0, 1, 0.75F},
                                               {1, 2, 0.5F},
                                               {2, 2, 0},
                                               {2, 2, 0}}));
}

} // namespace
} // namespace runner
