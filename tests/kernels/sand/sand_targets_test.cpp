// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/sand/sand.hpp"

#include "tests/support/sand_cases.hpp"
#include "tests/support/vector_sets.hpp"

#include <set>

namespace runner {
namespace {

TEST(SandTargets, EveryVectorSetGivesTheCellsOfTheReference) {
    CpuQueue queue(2);
    SandCases cases(21);
    const std::set<std::int64_t> targets = usable_targets();
    for (int i = 0; i < 40; ++i) {
        const Sand job = cases.job(cases.number(1, 120), cases.number(1, i % 8 == 0 ? 3000 : 300));
        const auto cells = cases.scene(job);
        const std::uint64_t generation = cases.bits();
        const std::int64_t generations = cases.number(1, 25);
        const auto expected = sand_reference::advance(job, generation, generations, cells);
        for (const std::int64_t target : targets) {
            const OnlyTarget only(target);
            SandState<CpuQueue> state(queue, job, {0, job.rows}, cells);
            state.advance(generation, generations);
            EXPECT_EQ("", first_difference(job.columns, expected, state.cells()))
                << hwy::TargetName(target) << ": " << describe(job);
        }
    }
}

} // namespace
} // namespace runner
