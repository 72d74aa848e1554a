// SPDX-License-Identifier: BSD-3-Clause
// Smaller plans, and the stream engine on the CPU where the host has no such memory.
#include "runner/plan/halving.hpp"

#include "tests/support/copy_jobs.hpp"
#include "tests/support/copy_stream.hpp"

#include <new>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

StreamPlan plan_of(const StreamJob& job, std::int64_t chunk_rows, int lanes,
                   std::int64_t alignment) {
    PlanRequest request;
    request.host_memory = std::int64_t{1} << 61;
    request.chunk_rows = chunk_rows;
    request.lanes = lanes;
    request.alignment = alignment;
    return make_plan(job, request);
}

auto smaller_of(const StreamJob& job) {
    return [&job](const StreamPlan& plan) { return halved(job, plan); };
}

TEST(Halving, HalvesRowsToTheAlignmentThenLowersLanes) {
    const CopyJob job(1, 1000, 17, 2);
    std::vector<std::pair<std::int64_t, int>> steps;
    StreamPlan plan = plan_of(job, 52, 3, 4);
    const std::int64_t border = plan.need.border;
    while (const std::optional<StreamPlan> next = halved(job, plan)) {
        EXPECT_LE(next->need.host(), plan.need.host());
        EXPECT_EQ(next->need.border, border);
        EXPECT_EQ(next->decomposition.slab(0), plan.decomposition.slab(0));
        plan = *next;
        steps.emplace_back(plan.decomposition.chunk_rows, plan.lanes);
    }
    const std::vector<std::pair<std::int64_t, int>> expected = {
        {24, 3}, {12, 3}, {4, 3}, {4, 2}, {4, 1}};
    EXPECT_EQ(steps, expected);
}

/// Rows of the output that the pieces of a plan's boxes make, each with how often.
std::vector<int> rows_made(const PermutePlan& plan) {
    std::vector<int> times(static_cast<std::size_t>(plan.total_rows()));
    for (std::int64_t box = 0; box < plan.grid.boxes(); ++box) {
        for (std::int64_t index = 0; index < plan.pieces(); ++index) {
            const PermuteBox piece = plan.piece(box, index);
            if (piece[0].empty() || piece[1].empty()) {
                continue;
            }
            EXPECT_LE(piece[0].count() * piece[1].count(), plan.chunk_rows());
            EXPECT_EQ(piece[1].first % plan.alignment, 0);
            for (const RowRange& rows : plan.grid.rows(piece)) {
                for (std::int64_t row = rows.first; row < rows.last; ++row) {
                    ++times[static_cast<std::size_t>(row)];
                }
            }
        }
    }
    return times;
}

TEST(Halving, OfABoxMakesPiecesThatMakeEachRowOnce) {
    const CopyPermutation job({23, 11, 5});
    for (const std::int64_t alignment : {1, 4}) {
        PlanRequest request;
        request.host_memory = std::int64_t{1} << 40;
        request.chunk_rows = 60;
        request.lanes = 2;
        request.alignment = alignment;
        PermutePlan plan = make_permute_plan(job, request);
        const std::int64_t boxes = plan.grid.boxes();
        EXPECT_EQ(plan.pieces(), 1);
        int steps = 0;
        while (const std::optional<PermutePlan> next = halved(plan)) {
            EXPECT_LT(next->need.staging, plan.need.staging);
            EXPECT_EQ(next->grid.boxes(), boxes);
            plan = *next;
            EXPECT_EQ(rows_made(plan),
                      std::vector<int>(static_cast<std::size_t>(plan.total_rows()), 1));
            ++steps;
        }
        EXPECT_GE(steps, 4);
        EXPECT_EQ(plan.chunk_rows(), alignment);
        EXPECT_EQ(plan.lanes, 1);
    }
}

TEST(Halving, OfAStateLeavesTheStateAsItIs) {
    const CopyEvolution job(100, 64, {0, 10, 5});
    PlanRequest request;
    request.backend = Backend::cuda;
    request.host_memory = request.device_memory = std::int64_t{1} << 40;
    request.chunk_rows = 12;
    request.lanes = 2;
    EvolvePlan plan = make_evolve_plan(job, request);
    std::vector<std::pair<std::int64_t, int>> steps;
    while (const std::optional<EvolvePlan> next = halved(plan)) {
        const std::int64_t fewer =
            plan.lanes * plan.chunk_rows() - next->lanes * next->chunk_rows();
        EXPECT_EQ(plan.need.device - next->need.device, fewer * 64);
        EXPECT_EQ(plan.need.staging - next->need.staging, fewer * 64);
        plan = *next;
        steps.emplace_back(plan.chunk_rows(), plan.lanes);
    }
    const std::vector<std::pair<std::int64_t, int>> expected = {{6, 2}, {3, 2}, {1, 2}, {1, 1}};
    EXPECT_EQ(steps, expected);
}

TEST(Halving, TakesTheFirstPlanThatFitsAndTellsWhatDidNot) {
    const CopyJob job(1, 1000, 17, 2);
    std::vector<Halving> halvings;
    const std::int64_t taken = take_fitting(
        plan_of(job, 100, 2, 1), halvings, smaller_of(job), [](const StreamPlan& plan) {
            if (plan.decomposition.chunk_rows == 100) {
                throw OutOfMemory(ExitCode::gpu, {"no memory", "device 3", "all is taken", "Wait"});
            }
            if (plan.decomposition.chunk_rows == 50) {
                throw std::bad_alloc();
            }
            return plan.decomposition.chunk_rows;
        });
    EXPECT_EQ(taken, 25);
    ASSERT_EQ(halvings.size(), 2);
    EXPECT_EQ(halvings[0].reason, "no memory (device 3): all is taken");
    EXPECT_EQ(halvings[0].chunk_rows, 50);
    EXPECT_EQ(halvings[1].chunk_rows, 25);
    EXPECT_EQ(halving_text(7, halvings),
              "rank 7: no memory (device 3): all is taken; continues with "
              "chunks of 25 rows in 2 lanes\n");
}

TEST(Halving, OtherErrorsAreThrownAtOnce) {
    const CopyJob job(1, 1000, 17, 2);
    std::vector<Halving> halvings;
    EXPECT_THROW(take_fitting(plan_of(job, 100, 2, 1), halvings, smaller_of(job),
                              [](const StreamPlan& /*plan*/) -> int {
                                  throw Error(ExitCode::gpu, {"another failure", "", "", ""});
                              }),
                 Error);
    EXPECT_TRUE(halvings.empty());
}

TEST(Halving, OfTheHostsMemory) {
    // More than a process can map, of which a run touches what it needs.
    const CopyJob job(1, 100, 17, 2);
    const StreamPlan plan = plan_of(job, std::int64_t{1} << 50, 2, 1);
    CopyStream stream(job, plan);
    const RunTimes times = stream.run([] { return CpuQueue(2); });
    EXPECT_GE(times.halvings.size(), 4);
    EXPECT_TRUE(stream.writer().complete());
    EXPECT_TRUE(stream.writer().right(job.expected(stream.in())));
    EXPECT_TRUE(stream.said().starts_with("rank 0: cannot take host memory (")) << stream.said();
}

} // namespace
} // namespace runner
