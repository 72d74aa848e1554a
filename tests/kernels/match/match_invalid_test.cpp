// SPDX-License-Identifier: BSD-3-Clause
// Patches with NaN are no references and no candidates, in every method and on every backend.
#include "kernels/match/match.hpp"

#include "tests/support/match_cases.hpp"
#include "tests/support/vector_sets.hpp"

#include <cmath>
#include <limits>

namespace runner {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Makes so many of a hundred voxels NaN, of either sign; or with 0 a plane along each axis.
void lose(const Match& match, MatchCases& cases, std::int64_t share, std::vector<float>& volume) {
    for (std::size_t i = 0; i < volume.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        const std::int64_t x = at % match.volume[2];
        const std::int64_t y = at / match.volume[2] % match.volume[1];
        const std::int64_t z = at / match.volume[2] / match.volume[1];
        const bool plane = z == match.volume[0] - 2 || y == 5 || x == 21;
        if (share == 0 ? plane : cases.number(0, 99) < share) {
            volume[i] = cases.number(0, 1) == 0 ? nan : -nan;
        }
    }
}

/// The usual patches at every step, the tensor cores' and others.
std::vector<Match> all_methods() {
    std::vector<Match> all;
    for (const int count : {1, 7, 16, 40}) {
        for (const auto& patch : usual_patches) {
            const std::int64_t deep = patch[0] == 1 ? 1 : patch[0] + 4;
            all.push_back(make_match({deep, 12, 43}, patch, {5, 5, 7}, count, 1));
        }
        for (const std::int64_t step : {1, 2, 3}) {
            all.push_back(make_match({14, 15, 37}, {4, 4, 4}, {11, 11, 11}, count, step));
        }
        all.push_back(make_match({14, 15, 37}, {4, 4, 4}, {9, 11, 7}, count, 3));
        all.push_back(make_match({5, 9, 31}, {2, 3, 1}, {3, 5, 9}, count, 2));
        all.push_back(make_match({1, 17, 45}, {1, 4, 4}, {1, 9, 9}, count, 1));
    }
    return all;
}

template <class Q> class MatchInvalid : public QueueTest<Q> {
  protected:
    void expect_right(const Match& match, const std::vector<float>& volume) {
        const MatchLayers all = match_layers(match, 0, match.volume[0]);
        ASSERT_EQ("", first_difference(match, match_reference::match(match, volume),
                                       match_on(this->queue(), match, all, volume)));
    }
};
TYPED_TEST_SUITE(MatchInvalid, TestQueues);

TYPED_TEST(MatchInvalid, AFewVoxelsByHand) {
    Match match = make_match({1, 1, 6}, {1, 1, 2}, {1, 1, 5}, 3, 1);
    const std::vector<float> volume = {0, 1, 1, nan, 2, 3};
    const auto lists = match_on(this->queue(), match, match_layers(match, 0, 1), volume);
    const std::uint64_t none = ~std::uint64_t{0};
    const float far = std::numeric_limits<float>::infinity();
    EXPECT_EQ(lists.index, (std::vector<std::uint64_t>{0, 1, none, 1, 0, none, none, none, none,
                                                       none, none, none, 4, none, none}));
    EXPECT_EQ(lists.distance, (std::vector<float>{0, 0.5F, far, 0, 0.5F, far, far, far, far, far,
                                                  far, far, 0, far, far}));
    EXPECT_EQ(lists.count, (std::vector<std::int32_t>{2, 2, 0, 0, 1}));
    match.order = MatchOrder::nearest_last;
    this->expect_right(match, volume);
}

TYPED_TEST(MatchInvalid, PatchesWithNaNInEveryMethod) {
    MatchCases cases(41);
    for (Match match : all_methods()) {
        for (const std::int64_t share : {0, 1, 34, 100}) {
            std::vector<float> volume = share == 1 ? cases.rough(match) : cases.ties(match, 3);
            lose(match, cases, share, volume);
            this->expect_right(match, volume);
            match.order = match.order == MatchOrder::nearest_first ? MatchOrder::nearest_last
                                                                   : MatchOrder::nearest_first;
        }
    }
}

/// Infinite distances of valid patches stay in their lists.
TYPED_TEST(MatchInvalid, BesideDistancesThatOverflow) {
    MatchCases cases(42);
    for (const std::int64_t step : {1, 2}) {
        for (const std::array<int, 3>& patch : {std::array{3, 3, 3}, {4, 4, 4}, {2, 1, 2}}) {
            const Match match = make_match({12, 13, 20}, patch, {11, 11, 11}, 64, step);
            std::vector<float> volume = cases.ties(match, 3);
            for (float& voxel : volume) {
                voxel *= 3e19F;
            }
            lose(match, cases, 1, volume);
            this->expect_right(match, volume);
        }
    }
}

TYPED_TEST(MatchInvalid, PublishedSelectionsAndParts) {
    MatchCases cases(43);
    for (int i = 0; i < 20; ++i) {
        Match match = cases.any();
        std::vector<float> volume = cases.any_volume(match);
        lose(match, cases, cases.number(0, 4), volume);
        for (const auto selection :
             {MatchSelection::fast, MatchSelection::serial, MatchSelection::min_and_swap}) {
            match.selection = selection;
            this->expect_right(match, volume);
        }
        for (std::int64_t first = 0; first < match.volume[0]; first += 2) {
            const MatchLayers part = match_layers(match, first, 2);
            if (match_rows(match, part) == 0) {
                continue;
            }
            ASSERT_EQ("", first_difference(match, match_reference::match(match, volume, first, 2),
                                           match_on(this->queue(), match, part, volume)));
        }
    }
}

TEST(MatchInvalidTargets, EveryVectorSetGivesTheListsOfTheReference) {
    CpuQueue queue(2);
    MatchCases cases(44);
    const auto targets = usable_targets();
    for (int i = 0; i < 20; ++i) {
        Match match = cases.any();
        std::vector<float> volume = cases.any_volume(match);
        lose(match, cases, cases.number(0, 4), volume);
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
