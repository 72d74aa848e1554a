// SPDX-License-Identifier: BSD-3-Clause
// Smaller plans, and the stream engine on the CPU where the host has no such memory.
#include "runner/plan/halving.hpp"

#include "tests/support/copy_stream.hpp"

#include <new>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

Plan plan_of(const StreamJob& job, std::int64_t chunk_rows, int lanes, std::int64_t alignment) {
    PlanRequest request;
    request.host_memory = std::int64_t{1} << 61;
    request.chunk_rows = chunk_rows;
    request.lanes = lanes;
    request.alignment = alignment;
    return make_plan(job, request);
}

TEST(Halving, HalvesRowsToTheAlignmentThenLowersLanes) {
    const CopyJob job(1, 1000, 17, 2);
    std::vector<std::pair<std::int64_t, int>> steps;
    Plan plan = plan_of(job, 52, 3, 4);
    const std::int64_t border = plan.need.border;
    while (const std::optional<Plan> next = halved(job, plan)) {
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

TEST(Halving, TakesTheFirstPlanThatFitsAndTellsWhatDidNot) {
    const CopyJob job(1, 1000, 17, 2);
    std::vector<Halving> halvings;
    const std::int64_t taken =
        take_fitting(job, plan_of(job, 100, 2, 1), halvings, [](const Plan& plan) {
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
    EXPECT_THROW(take_fitting(job, plan_of(job, 100, 2, 1), halvings,
                              [](const Plan& /*plan*/) -> int {
                                  throw Error(ExitCode::gpu, {"another failure", "", "", ""});
                              }),
                 Error);
    EXPECT_TRUE(halvings.empty());
}

TEST(Halving, OfTheHostsMemory) {
    // More than a process can map, of which a run touches what it needs.
    const CopyJob job(1, 100, 17, 2);
    const Plan plan = plan_of(job, std::int64_t{1} << 50, 2, 1);
    CopyStream stream(job, plan);
    const RunTimes times = stream.run([] { return CpuQueue(2); });
    EXPECT_GE(times.halvings.size(), 4);
    EXPECT_TRUE(stream.writer().complete());
    EXPECT_TRUE(stream.writer().right(job.expected(stream.in())));
    EXPECT_TRUE(stream.said().starts_with("rank 0: cannot take host memory (")) << stream.said();
}

} // namespace
} // namespace runner
