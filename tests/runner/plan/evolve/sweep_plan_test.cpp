// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/evolve/sweep_plan.hpp"

#include "base/sizes.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Depths = std::vector<std::int64_t>;
using Bands = std::vector<RowRange>;

TEST(SweepPlan, NamesWhereAStateIs) {
    EXPECT_EQ(name_of(StateHome::device), "device");
    EXPECT_EQ(name_of(StateHome::host), "host");
    EXPECT_EQ(name_of(StateHome::disk), "disk");
}

TEST(SweepPlan, ABandIsComputedWhileOthersAreMoved) {
    EXPECT_EQ(sweep_lanes(Backend::cuda, StateHome::host), 2);
    EXPECT_EQ(sweep_lanes(Backend::cuda, StateHome::disk), 3);
    EXPECT_EQ(sweep_lanes(Backend::cpu, StateHome::host), 1);
    EXPECT_EQ(sweep_lanes(Backend::cpu, StateHome::disk), 3);
}

TEST(SweepPlan, EachDepthIsListedOnce) {
    const Depths all = {1, 2, 3, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
    EXPECT_EQ(sweep_depths(256), all);
    EXPECT_EQ(sweep_depths(257), all);
    EXPECT_EQ(sweep_depths(1000000), all);
    EXPECT_EQ(sweep_depths(0), Depths{1});
    EXPECT_EQ(sweep_depths(1), Depths{1});
    EXPECT_EQ(sweep_depths(2), (Depths{1, 2}));
    EXPECT_EQ(sweep_depths(7), (Depths{1, 2, 3, 4, 7}));
    EXPECT_EQ(sweep_depths(8), (Depths{1, 2, 3, 4, 8}));
}

TEST(SweepPlan, BandsAreAnEighthOfTheSlabAndSixteenDepths) {
    constexpr std::int64_t much = 1000000;
    EXPECT_EQ(useful_band(Backend::cuda, 1, much, 8000, 1), 1000);
    EXPECT_EQ(useful_band(Backend::cuda, 100, much, 8000, 1), 1600); // 16 depths, 5 bands
    EXPECT_EQ(useful_band(Backend::cuda, 100, much, 6500, 1), 1300); // 1600 make 5 bands too
    EXPECT_EQ(useful_band(Backend::cuda, 100, much, 1601, 1), 801);  // 1600 and a single row
    EXPECT_EQ(useful_band(Backend::cuda, 100, much, 5, 1), 5);
    EXPECT_EQ(useful_band(Backend::cuda, 1, 10, 95, 1), 10); // memory for no more
    EXPECT_EQ(useful_band(Backend::cuda, 1, 1, 95, 1), 1);
}

TEST(SweepPlan, BandsOfACpuHave64MiB) {
    constexpr std::int64_t much = 1000000;
    EXPECT_EQ(useful_band(Backend::cpu, 1, much, 6400, MiB), 64);
    EXPECT_EQ(useful_band(Backend::cuda, 1, much, 6400, MiB), 800);
    EXPECT_EQ(useful_band(Backend::cpu, 1, much, 6400, 32 * MiB), 16); // 16 depths all the same
    EXPECT_EQ(useful_band(Backend::cpu, 1, much, 6400, KiB), 800);
}

double cost(Backend backend, StateHome home, std::int64_t depth, std::int64_t band_rows) {
    return sweep_cost(backend, home, Sweep{depth, band_rows, 1}, 1024);
}

TEST(SweepPlan, MovingTheStateIsSharedByTheGenerationsOfASweep) {
    // One band, so nothing is computed again.
    EXPECT_EQ(cost(Backend::cuda, StateHome::host, 2, 1024), 48);
    EXPECT_EQ(cost(Backend::cuda, StateHome::disk, 2, 1024), 256);
    EXPECT_EQ(cost(Backend::cpu, StateHome::host, 2, 1024), 4);
    EXPECT_EQ(cost(Backend::cpu, StateHome::disk, 2, 1024), 16);
}

TEST(SweepPlan, ComputingAgainCostsTheDepthForEachBand) {
    EXPECT_EQ(cost(Backend::cuda, StateHome::host, 128, 1024), 1); // one band
    EXPECT_EQ(cost(Backend::cuda, StateHome::host, 128, 512), 1.25);
    EXPECT_EQ(cost(Backend::cuda, StateHome::host, 128, 32), 5);
    EXPECT_EQ(cost(Backend::cuda, StateHome::host, 16, 64), 6); // moving takes longer
}

TEST(SweepPlan, BandsCoverTheSlab) {
    EXPECT_EQ(bands_of({5, 12}, 3), (Bands{{5, 8}, {8, 11}, {11, 12}}));
    EXPECT_EQ(bands_of({0, 6}, 3), (Bands{{0, 3}, {3, 6}}));
    EXPECT_EQ(bands_of({2, 4}, 10), (Bands{{2, 4}}));
    EXPECT_EQ(bands_of({4, 4}, 3), Bands{});
}

TEST(SweepPlan, ABandNeedsARowMoreAtEitherSideForEachGeneration) {
    EXPECT_EQ(band_window({10, 20}, 3, 100), (RowRange{7, 23}));
    EXPECT_EQ(band_window({2, 98}, 5, 100), (RowRange{0, 100}));
    EXPECT_EQ(band_window({0, 10}, 5, 100), (RowRange{0, 15}));
}

} // namespace
} // namespace runner
