// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match.hpp"

#include "tests/support/match_cases.hpp"

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

TEST(MatchTargets, EveryVectorSetGivesTheListsOfTheReference) {
    CpuQueue queue(2);
    MatchCases cases(21);
    const std::set<std::int64_t> targets = usable_targets();
    for (int i = 0; i < 40; ++i) {
        Match match = cases.any();
        const std::vector<float> volume = cases.any_volume(match);
        const auto expected = match_reference::match(match, volume);
        const MatchLayers all = match_layers(match, 0, match.volume[0]);
        for (const std::int64_t target : targets) {
            const OnlyTarget only(target);
            ASSERT_EQ("", first_difference(match, expected, match_on(queue, match, all, volume)))
                << hwy::TargetName(target);
        }
    }
}

} // namespace
} // namespace runner
