// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/evolve_plan.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "jobs/sand/sand_job.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

SandJob square(std::int64_t side) {
    return {{side, side}, 0, usual_sand_chances, Snapshots{0, 100, 10}, 0};
}

PlanRequest request(Backend backend, int ranks) {
    PlanRequest request;
    request.backend = backend;
    request.ranks = ranks;
    request.host_memory = 16 * GiB;
    request.device_memory = 16 * GiB;
    return request;
}

TEST(EvolvePlan, OneRankHasNoHalo) {
    const EvolvePlan plan = make_evolve_plan(square(65536), request(Backend::cuda, 1));
    EXPECT_EQ(plan.decomposition.halo, 0);
    // Two states and the copy that snapshots are taken from, a quarter of a byte a cell each.
    EXPECT_GT(plan.need.device, 3 * GiB);
    EXPECT_LT(plan.need.device, 3 * GiB + GiB / 2);
    EXPECT_LT(plan.need.host(), GiB);
}

TEST(EvolvePlan, HaloIsAFewPercentOfASlab) {
    EXPECT_EQ(make_evolve_plan(square(65536), request(Backend::cuda, 2)).decomposition.halo, 64);
    EXPECT_EQ(make_evolve_plan(square(2160), request(Backend::cuda, 2)).decomposition.halo, 8);
    EXPECT_EQ(make_evolve_plan(square(3), request(Backend::cuda, 9)).decomposition.halo, 4);
    PlanRequest given = request(Backend::cpu, 3);
    given.halo_depth = 77;
    EXPECT_EQ(make_evolve_plan(square(1000), given).decomposition.halo, 77);
}

TEST(EvolvePlan, LessMemoryGivesSmallerChunksAndThenAMessage) {
    PlanRequest tight = request(Backend::cuda, 1);
    const EvolvePlan plan = make_evolve_plan(square(16384), tight);
    tight.device_memory = plan.need.device - 20 * MiB;
    const EvolvePlan smaller = make_evolve_plan(square(16384), tight);
    EXPECT_LT(smaller.lanes * smaller.chunk_bytes(), plan.lanes * plan.chunk_bytes());
    EXPECT_LE(smaller.need.device, tight.device_memory);
    tight.device_memory = 64 * KiB;
    try {
        make_evolve_plan(square(16384), tight);
        FAIL() << "a band of one row fits in 64 KiB";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        EXPECT_EQ(error.text().where, "run.device_memory");
        EXPECT_NE(error.text().try_this.find("Use more ranks"), std::string::npos);
    }
}

/// 131072² cells, 4 GiB of state, kept in host memory or in files.
EvolvePlan swept(Backend backend, int ranks, std::int64_t host, std::int64_t device,
                 std::int64_t every = 0) {
    PlanRequest tight = request(backend, ranks);
    tight.host_memory = host;
    tight.device_memory = device;
    return make_evolve_plan(
        SandJob({131072, 131072}, 0, usual_sand_chances, Snapshots{0, 1000, every}, 0), tight);
}

TEST(EvolvePlan, AStateThatDoesNotFitTheDeviceIsKeptInHostMemory) {
    const EvolvePlan plan = swept(Backend::cuda, 1, 64 * GiB, GiB);
    EXPECT_EQ(plan.home, StateHome::host);
    EXPECT_EQ(plan.sweep.depth, 96);
    EXPECT_EQ(plan.sweep.lanes, 2);
    EXPECT_EQ(plan.scratch_bytes(), 0);
    // A band is computed again by its depth at most: here by 1.3 %.
    EXPECT_GT(plan.sweep.band_rows, 70 * plan.sweep.depth);
    const std::int64_t row = 131072 / 4;
    const std::int64_t window = (plan.sweep.band_rows + 2 * 96) * row;
    EXPECT_EQ(plan.window_bytes(), window);
    EXPECT_EQ(plan.need.device, 4 * window + plan.table_bytes +
                                    plan.lanes * (plan.chunk_bytes() + plan.packed_bytes()));
    EXPECT_LE(plan.need.device, GiB);
    EXPECT_EQ(plan.need.staging, (131072 + 96) * row + plan.lanes * plan.chunk_bytes());
    EXPECT_EQ(swept(Backend::cuda, 1, 64 * GiB, 80 * GiB).home, StateHome::device);
    EXPECT_NE(plan.text().find("kept in host memory: sweeps of up to 96 generations, in bands of"),
              std::string::npos);
}

TEST(EvolvePlan, AStateThatDoesNotFitTheHostEitherIsKeptInFiles) {
    const EvolvePlan plan = swept(Backend::cuda, 2, GiB, GiB);
    EXPECT_EQ(plan.home, StateHome::disk);
    EXPECT_EQ(plan.sweep.lanes, 3);
    EXPECT_EQ(plan.decomposition.halo, plan.sweep.depth);
    const std::int64_t row = 131072 / 4;
    EXPECT_EQ(plan.scratch_bytes(), (131072 + 4 * plan.sweep.depth) * row);
    EXPECT_EQ(plan.need.border, 2 * plan.sweep.depth * row);
    EXPECT_EQ(plan.need.staging,
              3 * plan.window_bytes() + plan.lanes * (plan.chunk_bytes() + plan.packed_bytes()));
    EXPECT_LE(plan.need.host(), GiB);
    EXPECT_LE(plan.need.device, GiB);
    EXPECT_NE(plan.text().find("in scratch files beside the output, 4."), std::string::npos);
}

TEST(EvolvePlan, TheCpuKeepsTheStateOnceOrInAFileWhereItDoesNotFitThrice) {
    EXPECT_EQ(swept(Backend::cpu, 1, 13 * GiB, 0).home, StateHome::device);
    EXPECT_EQ(swept(Backend::cpu, 1, 6 * GiB, 0).home, StateHome::host);
    const EvolvePlan plan = swept(Backend::cpu, 1, GiB, 0);
    EXPECT_EQ(plan.home, StateHome::disk);
    EXPECT_EQ(plan.need.staging, 6 * plan.window_bytes() + plan.table_bytes +
                                     plan.lanes * (plan.chunk_bytes() + plan.packed_bytes()));
    EXPECT_LE(plan.need.host(), GiB);
}

TEST(EvolvePlan, SweepsEndAtSnapshots) {
    EXPECT_EQ(swept(Backend::cuda, 1, 64 * GiB, GiB, 30).sweep.depth, 30);
    EXPECT_EQ(swept(Backend::cuda, 1, 64 * GiB, GiB, 1).sweep.depth, 1);
}

TEST(EvolvePlan, ChunksHoldWhatPassesThroughThem) {
    const EvolvePlan narrow = make_evolve_plan(
        SandJob({1000, 1}, 0, usual_sand_chances, Snapshots{0, 1, 0}, 0), request(Backend::cpu, 1));
    EXPECT_GE(narrow.chunk_bytes(), narrow.decomposition.chunk_rows * 16); // a row of the state
    PlanRequest aligned = request(Backend::cpu, 3);
    aligned.alignment = 7;
    const EvolvePlan plan = make_evolve_plan(square(100), aligned);
    EXPECT_EQ(plan.decomposition.chunk_rows % 7, 0);
    EXPECT_EQ(plan.decomposition.slab(1).first % 7, 0);
}

TEST(EvolvePlan, CountsTheMemoryOfTheRankThatNeedsMost) {
    // 2048 x 2048 cells: 512 bytes a row of the state, 2048 rows a chunk.
    const EvolvePlan one = make_evolve_plan(square(2048), request(Backend::cuda, 1));
    EXPECT_EQ(one.chunk_bytes(), 2048 * 2048);
    EXPECT_EQ(one.packed_bytes(), 2048 * 512);
    EXPECT_EQ(one.need.staging, 4 * 2048 * 2048);
    EXPECT_EQ(one.need.device, 3 * 2048 * 512 + one.table_bytes + one.need.staging);
    EXPECT_EQ(one.need.border, 0);
    const EvolvePlan two = make_evolve_plan(square(2048), request(Backend::cuda, 2));
    EXPECT_EQ(two.decomposition.halo, 8);
    // Two states with the halo, and what snapshots are taken from.
    EXPECT_EQ(two.need.device, (2 * (1024 + 8) + 1024) * 512 + two.table_bytes + two.need.staging);
    EXPECT_EQ(two.need.border, (8 + 8) * 512); // sent and received
    const EvolvePlan cpu = make_evolve_plan(square(2048), request(Backend::cpu, 3));
    EXPECT_EQ(cpu.need.border, 0);
    // Slabs of 683 rows at most: the middle one has a halo on both sides.
    EXPECT_EQ(cpu.decomposition.halo, 4);
    EXPECT_EQ(cpu.need.staging,
              (2 * (683 + 8) + 683) * 512 + cpu.table_bytes + cpu.lanes * cpu.chunk_bytes());
}

TEST(EvolvePlan, CountsBytesAndUpdates) {
    const EvolvePlan plan = make_evolve_plan(square(65536), request(Backend::cuda, 2));
    EXPECT_EQ(plan.decomposition.chunk_rows, 128); // 8 MiB of one byte a cell
    EXPECT_EQ(plan.pieces_of_rank(1), 256);
    EXPECT_EQ(plan.bytes_to_read(), std::int64_t{65536} * 65536);
    EXPECT_EQ(plan.bytes_to_write(), std::int64_t{65536} * 65536 * 10); // snapshots
    EXPECT_EQ(plan.updates(), 65536.0 * 65536 * 100);
}

TEST(EvolvePlan, HaloIsAtMostTwoPercentOfASlab) {
    EXPECT_EQ(make_evolve_plan(square(2047), request(Backend::cuda, 2)).decomposition.halo, 8);
    EXPECT_EQ(make_evolve_plan(square(2046), request(Backend::cuda, 2)).decomposition.halo, 4);
}

TEST(EvolvePlan, HalvesChunksToTheAlignmentThenLowersLanes) {
    PlanRequest aligned = request(Backend::cpu, 1);
    aligned.alignment = 40;
    aligned.chunk_rows = 170;
    aligned.lanes = 3;
    EvolvePlan plan = make_evolve_plan(square(1000), aligned);
    EXPECT_EQ(plan.decomposition.chunk_rows, 160);
    std::vector<std::pair<std::int64_t, int>> steps;
    while (const std::optional<EvolvePlan> next = halved(plan)) {
        EXPECT_LT(next->need.host(), plan.need.host());
        plan = *next;
        steps.emplace_back(plan.decomposition.chunk_rows, plan.lanes);
    }
    EXPECT_EQ(steps,
              (std::vector<std::pair<std::int64_t, int>>{{80, 3}, {40, 3}, {40, 2}, {40, 1}}));
}

/// Rows of 2048 cells: the state has 512 bytes a row, a chunk 2048. `room`: device memory for
/// chunks.
EvolvePlan with_room(std::int64_t room, PlanRequest request) {
    const std::int64_t state = 3 * 2048 * 512;
    const std::int64_t tables = make_evolve_plan(square(2048), request).table_bytes;
    request.device_memory = state + tables + room;
    return make_evolve_plan(square(2048), request);
}

void expect_chunks(const EvolvePlan& plan, std::int64_t rows, int lanes) {
    EXPECT_EQ(plan.home, StateHome::device);
    EXPECT_EQ(plan.decomposition.chunk_rows, rows);
    EXPECT_EQ(plan.lanes, lanes);
}

TEST(EvolvePlan, HalvesChunksThenLowersLanesUntilTheStateFitsTheDevice) {
    PlanRequest one = request(Backend::cuda, 1);
    expect_chunks(with_room(4 * 512 * 2048, one), 512, 4);
    expect_chunks(with_room(4 * 512 * 2048 - 1, one), 256, 4);
    expect_chunks(with_room(4 * 2048, one), 1, 4);
    expect_chunks(with_room(4 * 2048 - 1, one), 1, 3);
    expect_chunks(with_room(2048, one), 1, 1);
    one.alignment = 3; // 2046, 1023, 510, 255, 126, 63, 30, 15, 6, 3
    expect_chunks(with_room(4 * 14 * 2048, one), 6, 4);
    expect_chunks(with_room(4 * 5 * 2048, one), 3, 4);
    one.alignment = 1;
    one.chunk_rows = 100;
    expect_chunks(with_room(3 * 100 * 2048, one), 100, 3);
    one.chunk_rows = {};
    one.lanes = 2;
    expect_chunks(with_room(2 * 512 * 2048, one), 512, 2);
    one.chunk_rows = 100;
    EXPECT_NE(with_room(2 * 100 * 2048 - 1, one).home, StateHome::device);
}

TEST(EvolvePlan, ChunksHaveARowAndAStepAtLeast) {
    const SandJob wide({10, 16777259}, 0, usual_sand_chances, Snapshots{0, 1, 0}, 0);
    EXPECT_EQ(make_evolve_plan(wide, request(Backend::cpu, 1)).decomposition.chunk_rows, 1);
    EXPECT_EQ(make_evolve_plan(square(1), request(Backend::cpu, 1)).decomposition.chunk_rows, 1);
    const SandJob narrow({9000001, 1}, 0, usual_sand_chances, Snapshots{0, 1, 0}, 0);
    EXPECT_EQ(make_evolve_plan(narrow, request(Backend::cpu, 1)).decomposition.chunk_rows, 8 * MiB);
    PlanRequest few = request(Backend::cpu, 1);
    few.chunk_rows = 2;
    few.alignment = 7;
    EXPECT_EQ(make_evolve_plan(square(100), few).decomposition.chunk_rows, 7);
}

constexpr std::int64_t ten_thousand_row = 157 * 16; ///< bytes of a row of 10000 cells' state

/// 10000² cells in chunks of one row, one at a time, and sweeps of one generation.
EvolvePlan swept_by_one(Backend backend, std::int64_t host, std::int64_t device) {
    PlanRequest tight = request(backend, 1);
    tight.chunk_rows = 1;
    tight.lanes = 1;
    tight.halo_depth = 1;
    tight.host_memory = host;
    tight.device_memory = device;
    return make_evolve_plan(square(10000), tight);
}

TEST(EvolvePlan, BandsTakeTheMemoryThatIsLeft) {
    constexpr std::int64_t window = 1002 * ten_thousand_row; // of ten bands
    constexpr std::int64_t chunk = 10000;
    constexpr std::int64_t packed = ten_thousand_row;
    constexpr std::int64_t store = 10001 * ten_thousand_row;
    const std::int64_t gpu_tables = swept_by_one(Backend::cuda, GiB, GiB).table_bytes;
    const std::int64_t tables = swept_by_one(Backend::cpu, GiB, 0).table_bytes;
    struct Case {
        Backend backend;
        StateHome home;
        std::int64_t host;
        std::int64_t device;
        bool by_host; ///< and not by the device's memory
    };
    for (const Case& c : std::vector<Case>{
             {Backend::cuda, StateHome::host, GiB, 4 * window + packed + gpu_tables + chunk, false},
             {Backend::cuda, StateHome::disk, 3 * window + packed + chunk, 40000000, true},
             {Backend::cuda, StateHome::disk, 20000000, 6 * window + packed + gpu_tables + chunk,
              false},
             {Backend::cpu, StateHome::host, 2 * window + store + tables + chunk, 0, true},
             {Backend::cpu, StateHome::disk, 6 * window + packed + tables + chunk, 0, true}}) {
        const EvolvePlan plan = swept_by_one(c.backend, c.host, c.device);
        EXPECT_EQ(plan.home, c.home);
        EXPECT_EQ(plan.sweep.depth, 1);
        EXPECT_EQ(plan.sweep.band_rows, 1000);
        EXPECT_EQ(c.by_host ? plan.need.host() : plan.need.device, c.by_host ? c.host : c.device);
        const EvolvePlan less =
            swept_by_one(c.backend, c.host - (c.by_host ? 1 : 0), c.device - (c.by_host ? 0 : 1));
        EXPECT_EQ(less.home, c.home);
        EXPECT_EQ(less.sweep.band_rows, 910); // eleven bands
    }
}

TEST(EvolvePlan, ChunksOfASweptStateTakeAnEighthOfTheMemory) {
    const auto plan_of = [](std::int64_t device, std::optional<std::int64_t> rows) {
        PlanRequest tight = request(Backend::cuda, 1);
        tight.device_memory = device;
        tight.chunk_rows = rows;
        return make_evolve_plan(square(10000), tight);
    };
    // 838 rows for 8 MiB, then 419, 209, 104, 52, 26; with the packed rows 12512 bytes each.
    constexpr std::int64_t eighth = std::int64_t{4} * 52 * (10000 + ten_thousand_row);
    const EvolvePlan plan = plan_of(8 * eighth, {});
    EXPECT_EQ(plan.home, StateHome::host);
    EXPECT_EQ(plan.decomposition.chunk_rows, 52);
    EXPECT_EQ(plan.lanes, 4);
    EXPECT_EQ(plan_of(8 * eighth - 1, {}).decomposition.chunk_rows, 26);
    EXPECT_EQ(plan_of(8 * eighth, 100).lanes, 2);
    EXPECT_EQ(plan_of(8 * eighth, 100).decomposition.chunk_rows, 100);
}

TEST(EvolvePlan, ADepthThatIsGivenIsCutToWhatIsOfUse) {
    const auto depth_of = [](std::int64_t given, Snapshots snapshots, std::int64_t rows) {
        PlanRequest tight = request(Backend::cuda, 1);
        tight.halo_depth = given;
        const SandJob job({rows, 100000}, 0, usual_sand_chances, snapshots, 0);
        tight.device_memory = make_evolve_plan(job, tight).need.device - 4 * 8 * MiB;
        tight.chunk_rows = 1;
        tight.lanes = 1;
        const EvolvePlan plan = make_evolve_plan(job, tight);
        EXPECT_EQ(plan.home, StateHome::host);
        return plan.sweep.depth;
    };
    EXPECT_EQ(depth_of(5, {0, 1000, 0}, 20000), 5);
    EXPECT_EQ(depth_of(2000, {0, 100, 0}, 20000), 100);
    EXPECT_EQ(depth_of(2000, {0, 1000, 30}, 20000), 30);
    EXPECT_EQ(depth_of(2000, {0, 0, 0}, 20000), 1);
}

TEST(EvolvePlan, SweepsAreAsDeepAsFitsAndOfEqualOnesTheDeepest) {
    PlanRequest tight = request(Backend::cuda, 1);
    tight.chunk_rows = 1;
    tight.lanes = 1;
    const SandJob job({6144, 10000}, 0, usual_sand_chances, Snapshots{0, 1000, 0}, 0);
    const std::int64_t rest =
        make_evolve_plan(job, tight).table_bytes + ten_thousand_row + 10000; // tables and a chunk
    // Bands of 16 depths, 6144 = 16 * 384: 96, 128 and 192 compute a sixteenth again.
    tight.device_memory = 15000 * ten_thousand_row + rest;
    EXPECT_EQ(make_evolve_plan(job, tight).sweep.depth, 192);
    EXPECT_EQ(make_evolve_plan(job, tight).sweep.band_rows, 3072);
    // Two lanes of two windows, each of a row with eight at either side.
    tight.device_memory = 4 * 17 * ten_thousand_row + rest;
    EXPECT_EQ(make_evolve_plan(job, tight).sweep.depth, 8);
    EXPECT_EQ(make_evolve_plan(job, tight).sweep.band_rows, 1);
}

TEST(EvolvePlan, NamesTheLeastThatDoesNotFit) {
    PlanRequest tight = request(Backend::cuda, 1);
    tight.device_memory = 64 * KiB;
    try {
        make_evolve_plan(square(16384), tight);
        FAIL() << "three bands take more";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("1 chunk of 1 row and 3 bands of 3 rows take"),
                  std::string::npos)
            << error.what();
    }
}

TEST(EvolvePlan, SaysHowOftenRowsAreExchanged) {
    EXPECT_EQ(make_evolve_plan(square(2048), request(Backend::cuda, 1)).text().find("exchanges"),
              std::string::npos);
    EXPECT_NE(make_evolve_plan(square(2048), request(Backend::cuda, 2))
                  .text()
                  .find(", 8 generations between halo exchanges"),
              std::string::npos);
}

TEST(EvolvePlan, ARankWithoutRowsStoresNothing) {
    EvolvePlan plan;
    plan.home = StateHome::disk;
    plan.shape.state_row_bytes = 16;
    plan.decomposition.rows = plan.shape.rows = 3;
    plan.decomposition.ranks = 5;
    plan.decomposition.halo = plan.sweep.depth = 1;
    std::int64_t ranks_with_rows = 0;
    for (int rank = 0; rank < 5; ++rank) {
        const bool has_rows = !plan.rows_of_rank(rank).empty();
        ranks_with_rows += has_rows ? 1 : 0;
        EXPECT_EQ(plan.store_bytes(rank) > 0, has_rows);
    }
    EXPECT_EQ(ranks_with_rows, 3);
    // Held are two rows, three and two, and one more for the sweep.
    EXPECT_EQ(plan.scratch_bytes(), (3 + 4 + 3) * 16);
}

} // namespace
} // namespace runner
