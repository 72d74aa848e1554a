// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/match.hpp"

#include "tests/support/match_cases.hpp"
#include "tests/support/vector_sets.hpp"

#include <set>

namespace runner {
namespace {

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
