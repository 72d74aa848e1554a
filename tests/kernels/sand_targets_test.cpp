// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/sand.hpp"

#include "tests/support/sand_cases.hpp"

#include <set>

#include <hwy/highway.h>

namespace runner {
namespace {

/// Makes Highway choose one vector set until the end of its life.
class OnlyTarget {
  public:
    explicit OnlyTarget(std::int64_t target) { hwy::GetChosenTarget().Update(target); }
    ~OnlyTarget() { hwy::GetChosenTarget().DeInit(); }
    OnlyTarget(const OnlyTarget&) = delete;
    OnlyTarget(OnlyTarget&&) = delete;
    OnlyTarget& operator=(const OnlyTarget&) = delete;
    OnlyTarget& operator=(OnlyTarget&&) = delete;
};

/// The vector sets that this machine has and the kernels are compiled for, and the one that every
/// machine of this kind has.
std::set<std::int64_t> usable_targets() {
    const std::vector<std::int64_t> best = hwy::SupportedAndGeneratedTargets();
    std::set<std::int64_t> targets(best.begin(), best.end());
    targets.insert(HWY_STATIC_TARGET);
    return targets;
}

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
