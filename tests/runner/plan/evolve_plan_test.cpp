// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/evolve_plan.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "jobs/sand/sand_job.hpp"

#include <string>

#include <gtest/gtest.h>

namespace runner {
namespace {

SandJob square(std::int64_t side) {
    return {side, side, 0, usual_sand_chances, Snapshots{0, 100, 10}, 0};
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
    tight.device_memory = 100 * MiB;
    try {
        make_evolve_plan(square(16384), tight);
        FAIL() << "192 MiB of state fit in 100 MiB";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        EXPECT_EQ(error.text().where, "run.device_memory");
        EXPECT_NE(error.text().try_this.find("Use more ranks"), std::string::npos);
    }
}

TEST(EvolvePlan, ChunksHoldWhatPassesThroughThem) {
    const EvolvePlan narrow = make_evolve_plan(
        SandJob(1000, 1, 0, usual_sand_chances, Snapshots{0, 1, 0}, 0), request(Backend::cpu, 1));
    EXPECT_GE(narrow.chunk_bytes(), narrow.decomposition.chunk_rows * 16); // a row of the state
    PlanRequest aligned = request(Backend::cpu, 3);
    aligned.alignment = 7;
    const EvolvePlan plan = make_evolve_plan(square(100), aligned);
    EXPECT_EQ(plan.decomposition.chunk_rows % 7, 0);
    EXPECT_EQ(plan.decomposition.slab(1).first % 7, 0);
}

} // namespace
} // namespace runner
