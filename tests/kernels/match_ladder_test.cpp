// SPDX-License-Identifier: BSD-3-Clause
// The published selections that the benchmark compares to make the right lists too.
#include "kernels/baselines/match_ladder.hpp"

#include "tests/support/match_cases.hpp"

namespace runner {
namespace {

using MatchLadder = QueueTest<CudaQueue>;

TEST_F(MatchLadder, MakesTheListsOfTheReference) {
    MatchCases cases(31);
    for (int i = 0; i < 40; ++i) {
        Match match = cases.any();
        const std::vector<float> volume = cases.any_volume(match);
        const auto expected = match_reference::match(match, volume);
        const MatchLayers all = match_layers(match, 0, match.volume[0]);
        for (const MatchBaseline baseline : {MatchBaseline::serial, MatchBaseline::min_and_swap}) {
            const MatchBuffers<CudaQueue> buffers(queue(), match, all, volume);
            match_baseline(queue(), baseline, match, all, buffers.volume(), buffers.lists());
            ASSERT_EQ("", first_difference(match, expected, buffers.fetch()))
                << "baseline " << static_cast<int>(baseline);
        }
    }
}

} // namespace
} // namespace runner
