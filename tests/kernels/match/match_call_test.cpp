// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/match_call.hpp"
#include "kernels/match/match_sparse_plan.hpp"

#include "tests/reference/match_reference.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace runner {
namespace {

Match line(std::int64_t extent, int patch, std::int64_t step, std::int64_t window) {
    Match match;
    match.volume = {extent, 1, 1};
    match.patch = {patch, 1, 1};
    match.window = {window, 1, 1};
    match.step = step;
    return match;
}

TEST(MatchCall, ReferencesAreThoseOfTheDefinition) {
    for (std::int64_t extent = 1; extent <= 14; ++extent) {
        for (int patch = 1; patch <= std::min<std::int64_t>(extent, 8); ++patch) {
            for (std::int64_t step = 1; step <= 16; ++step) {
                const Match match = line(extent, patch, step, 3);
                const auto expected = match_reference::references(match, 0);
                ASSERT_EQ(match_grid(match)[0], static_cast<std::int64_t>(expected.size()));
                const MatchCall call = make_match_call(match, match_layers(match, 0, extent));
                for (std::size_t i = 0; i < expected.size(); ++i) {
                    EXPECT_EQ(call.reference(0, static_cast<std::int64_t>(i)), expected[i]);
                }
                for (std::int64_t layer = 0; layer <= extent + 1; ++layer) {
                    EXPECT_EQ(match_grid_before(match, layer),
                              std::count_if(expected.begin(), expected.end(),
                                            [&](std::int64_t at) { return at < layer; }))
                        << extent << ' ' << patch << ' ' << step << ' ' << layer;
                }
            }
        }
    }
}

TEST(MatchCall, LayersAreTheFewestThatCandidatesCover) {
    for (std::int64_t extent = 2; extent <= 12; ++extent) {
        for (const std::int64_t window : {1, 3, 7, 31}) {
            for (const std::int64_t step : {1, 3, 5}) {
                const Match match = line(extent, 2, step, window);
                for (std::int64_t first = 0; first < extent; ++first) {
                    for (std::int64_t layers = 1; layers <= extent - first; ++layers) {
                        std::int64_t low = extent;
                        std::int64_t high = -1;
                        for (const std::int64_t at : match_reference::references(match, 0)) {
                            for (std::int64_t to = 0; to <= extent - 2; ++to) {
                                if (at >= first && at < first + layers &&
                                    std::abs(to - at) <= window / 2) {
                                    low = std::min(low, to);
                                    high = std::max(high, to + 1);
                                }
                            }
                        }
                        const MatchLayers found = match_layers(match, first, layers);
                        EXPECT_EQ(found.in_layers, std::max<std::int64_t>(0, high - low + 1));
                        if (found.in_layers > 0) {
                            EXPECT_EQ(found.in_first, low);
                        }
                        EXPECT_EQ(match_rows(match, found) > 0, high >= 0);
                    }
                }
            }
        }
    }
}

TEST(MatchCall, TheMostIsTheLastFloatWithinTheThreshold) {
    const float infinity = std::numeric_limits<float>::infinity();
    for (const float voxels : {1.0F, 3.0F, 27.0F, 49.0F, 512.0F}) {
        for (const float threshold : {0.0F, 1e-45F, 1e-38F, 0.1F, 1.0F / 3, 1.0F, 77.7F, 1e30F,
                                      std::numeric_limits<float>::max()}) {
            const float most = match_most(threshold, voxels);
            EXPECT_LE(most / voxels, threshold);
            EXPECT_GT(std::nextafter(most, infinity) / voxels, threshold);
        }
        EXPECT_EQ(match_most(infinity, voxels), infinity);
    }
}

/// What the kernel relies on.
void expect_sound(const MatchCall& call, const SparsePlan& plan, const SparseRoom& room) {
    const auto product = [](const auto& extents) { return extents[0] * extents[1] * extents[2]; };
    const int other = 1 - plan.along;
    EXPECT_LE(plan.bytes, room.block);
    EXPECT_LE(plan.warps, SparsePlan::most_warps);
    EXPECT_EQ(plan.warps * plan.warp_references, product(plan.references));
    EXPECT_EQ(plan.part[plan.along] % plan.each, 0);
    EXPECT_EQ(plan.columns, plan.part[other] * plan.part[2]);
    EXPECT_EQ(plan.items, plan.warp_references * product(plan.part) / plan.each);
    EXPECT_GE(plan.distances, product(plan.part));
    EXPECT_EQ(plan.distances % SparsePlan::round, 0);
    EXPECT_EQ(plan.own_floats % 4, 0);
    EXPECT_GE(plan.own_floats, plan.own * product(plan.references));
    EXPECT_EQ(plan.distance_floats, plan.distances * product(plan.references));
    EXPECT_TRUE(sparse_has(plan.along, call.patch[plan.along], plan.each));
    EXPECT_GE(plan.gathered_floats, 2 * plan.warps * SparsePlan::gathered);
    EXPECT_GE(plan.bytes,
              std::int64_t{4} * (plan.own_floats + plan.gathered_floats + plan.distance_floats +
                                 plan.pitch_line * plan.tile[other]));
    EXPECT_GE(plan.pitch_x, plan.tile[plan.along]);
    EXPECT_GE(plan.pitch_line, plan.pitch_x * plan.tile[2]);
    // 32 columns that follow each other are in 32 banks.
    EXPECT_EQ(plan.pitch_x % 2, 1);
    EXPECT_EQ((plan.pitch_line - plan.pitch_x * plan.part[2]) % 32, 0);
    for (int i = 0; i < 3; ++i) {
        const std::int64_t first = (plan.blocks[i] - 1) * plan.references[i];
        EXPECT_LT(first, call.grid[i]);
        EXPECT_GE(first + plan.references[i], call.grid[i]);
        for (std::int64_t at = 0; at < call.grid[i]; ++at) {
            const std::int64_t begin = at / plan.references[i] * plan.references[i];
            const std::int64_t ahead = call.reference(i, at) - call.reference(i, begin);
            ASSERT_LE(ahead + plan.part[i] + call.patch[i] - 1, plan.tile[i]);
        }
    }
}

TEST(MatchCall, PlansOfLargerStepsFitTheirBlocks) {
    for (const SparseRoom& room :
         {SparseRoom{232448, 233472}, {101376, 102400}, {65536, 65536}, {32768, 65536}}) {
        for (const std::int64_t step : {1, 2, 3, 5, 40}) {
            for (const int patch : {1, 3, 4, 8}) {
                for (const std::int64_t window : {1, 3, 11, 21, 101}) {
                    Match match;
                    match.volume = {60, 71, 83};
                    match.patch = {patch, patch, patch};
                    match.window = {window, window, window};
                    match.step = step;
                    MatchCall call = make_match_call(match, match_layers(match, 0, 60));
                    expect_sound(call, make_sparse_plan(call, room), room);
                    match.volume[0] = match.patch[0] = 1;
                    call = make_match_call(match, match_layers(match, 0, 1));
                    EXPECT_EQ(make_sparse_plan(call, room).along, 1);
                    expect_sound(call, make_sparse_plan(call, room), room);
                }
            }
        }
    }
}

} // namespace
} // namespace runner
