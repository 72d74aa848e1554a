// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/window_means.hpp"

#include "kernels/denoise/window_means_call.hpp"
#include "tests/reference/window_means_reference.hpp"
#include "tests/support/match_cases.hpp"
#include "tests/support/vector_sets.hpp"

#include <cmath>
#include <limits>

namespace runner {
namespace {

float magnitude_of(const std::vector<float>& volume) {
    float most = 0;
    for (const float value : volume) {
        most = std::max(most, std::abs(value));
    }
    return most;
}

/// Layers `held` by one call that is given layers `in` alone.
template <class Q>
std::vector<float> means_of(Q& q, const Match& match, const WindowMeans& means,
                            const std::vector<float>& volume, const HeldLayers& in,
                            const HeldLayers& held) {
    const auto layer = static_cast<std::size_t>(match.volume[1] * match.volume[2]);
    std::vector<std::byte> bytes(4 * layer * static_cast<std::size_t>(in.layers));
    std::memcpy(bytes.data(), volume.data() + static_cast<std::size_t>(in.first) * layer,
                bytes.size());
    const DeviceBytes<Q> from(q, bytes);
    const DeviceBytes<Q> to(
        q, std::vector<std::byte>(4 * layer * static_cast<std::size_t>(held.layers)));
    window_means(q, match, means, in, reinterpret_cast<const float*>(from.data()), held,
                 reinterpret_cast<float*>(to.data()));
    const std::vector<std::byte> made = to.fetch();
    std::vector<float> result(made.size() / 4);
    std::memcpy(result.data(), made.data(), made.size());
    return result;
}

template <class Q>
std::vector<float> means_of(Q& q, const Match& match, const WindowMeans& means,
                            const std::vector<float>& volume) {
    const HeldLayers all{0, match.volume[0]};
    return means_of(q, match, means, volume, all, all);
}

bool same_bytes(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), 4 * a.size()) == 0;
}

/// A match of several blocks of threads, and of tiles, along every axis.
Match large(const std::array<int, 3>& patch) {
    Match match;
    match.patch = patch;
    const bool is_common = patch == std::array<int, 3>{3, 3, 3};
    match.volume = {patch[0] == 1 ? 3 : 13, 39, is_common ? 141 : 43};
    match.window = {patch[0] == 1 ? 1 : 5, 5, 3};
    return match;
}

TEST(WindowWeight, TheExponentialIsRightToTheLastPlaces) {
    // With this slope and start, s = 1 − D: 32·s is exact for multiples of 2^−20.
    WindowWeight weight{-1, 1,    static_cast<float>((3 << 22) - 32), std::ldexp(1.0F, -32), 1,
                        0,  false};
    for (int i = 0; i <= 1 << 20; i += 3) {
        const float distance = std::ldexp(static_cast<float>(i), -20);
        const long double exact = std::exp2(-32.0L * static_cast<long double>(distance));
        const auto nearest = static_cast<float>(exact);
        const long double unit = static_cast<long double>(std::nextafter(nearest, 2.0F)) -
                                 static_cast<long double>(nearest);
        // What of() took away is added; where it is much of the weight, that sum is exact.
        const long double found =
            static_cast<long double>(weight.of(distance)) + static_cast<long double>(weight.least);
        ASSERT_LE(std::abs(found - exact), 2.5L * unit) << distance;
    }
    EXPECT_EQ(weight.of(0), 1);
    EXPECT_EQ(weight.of(1), 0);
    EXPECT_EQ(weight.of(std::numeric_limits<float>::max()), 0);
    EXPECT_EQ(weight.of(std::numeric_limits<float>::infinity()), 0);
}

TEST(WindowWeight, FollowsTheFormulaForAnyNoise) {
    Match match;
    match.volume = {9, 9, 9};
    match.patch = {2, 3, 4};
    match.window = {5, 5, 5};
    for (const double sigma : {1e-12, 0.3, 17.0, 1e12}) {
        for (const double strength : {0.05, 0.6, 3.0, 1e6}) {
            const HeldLayers all{0, 9};
            const WindowCall call = make_window_call(match, {sigma, strength, 1}, all, all);
            for (double d = 0; d < 20; d += 0.01) {
                const auto distance = static_cast<float>(24 * d * sigma * sigma);
                const double over = std::max(d - 2, 0.0) / (strength * strength);
                // As near as a float32 tells D / h² from 2·sigma² / h².
                ASSERT_NEAR(call.weight.of(distance), std::exp(-over),
                            1e-6 * (1 + 1 / (strength * strength)))
                    << sigma << ' ' << strength << ' ' << d;
            }
        }
    }
}

TEST(WindowWeight, WithoutAnyScaleIsAStep) {
    Match match;
    match.volume = {9, 9, 9};
    match.patch = {1, 1, 2};
    const HeldLayers all{0, 9};
    for (const auto& [sigma, strength] : {std::pair{3.0, 0.0}, {3.0, 1e-30}, {3.0, 1e-5}}) {
        const WindowCall call = make_window_call(match, {sigma, strength, 1}, all, all);
        EXPECT_EQ(call.weight.of(36), 1);
        EXPECT_EQ(call.weight.of(std::nextafter(36.0F, 37.0F)), 0);
    }
    const WindowCall call = make_window_call(match, {0, 1, 1}, all, all);
    EXPECT_EQ(call.weight.of(0), 1);
    EXPECT_EQ(call.weight.of(std::numeric_limits<float>::denorm_min()), 0);
}

template <class Q> class WindowMeansTest : public QueueTest<Q> {};

TYPED_TEST_SUITE(WindowMeansTest, TestQueues);

/// Worked by hand: patches of one voxel, three voxels, sigma 1 and strength 1. 0 and 1 are 1 apart,
/// not more than 2·sigma²; 0 and 2 are 4 apart and weigh w = exp(−2).
TYPED_TEST(WindowMeansTest, OfThreeVoxels) {
    Match match;
    match.volume = {1, 1, 3};
    match.window = {1, 1, 5};
    const std::vector<float> found =
        means_of(this->queue(), match, {1, 1, 2}, std::vector<float>{0, 1, 2});
    const double w = std::exp(-2.0);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_NEAR(found[0], (0 + 1 + 2 * w) / (2 + w), 1e-6);
    EXPECT_NEAR(found[1], 1, 1e-6);
    EXPECT_NEAR(found[2], (0 * w + 1 + 2) / (2 + w), 1e-6);
}

/// Patches of two voxels, at 0 and 1, that equal themselves alone: the middle voxel has both.
TYPED_TEST(WindowMeansTest, OfTwoPatches) {
    Match match;
    match.volume = {1, 1, 3};
    match.patch = {1, 1, 2};
    match.window = {1, 1, 3};
    const std::vector<float> volume = {0, 10, 40};
    EXPECT_EQ(means_of(this->queue(), match, {1, 1, 40}, volume), volume);
    // With a sigma that makes all weigh one: voxel 1 is in both, as 0 + 10 and as 10 + 40.
    const std::vector<float> all = {5, 15, 25};
    EXPECT_EQ(means_of(this->queue(), match, {100, 1, 40}, volume), all);
}

TYPED_TEST(WindowMeansTest, IsTheFloat64VersionWithinTheSpecsTolerance) {
    MatchCases cases(1);
    for (int i = 0; i < 30; ++i) {
        Match match = cases.any();
        match.volume[2] = std::min<std::int64_t>(match.volume[2], match.patch[2] + 9);
        const std::vector<float> volume = i % 3 == 0 ? cases.ties(match, 3) : cases.rough(match);
        const double range = i % 3 == 0 ? 2 : 2000;
        const double sigma = range * static_cast<double>(cases.number(1, 30)) / 100;
        const double strength = static_cast<double>(cases.number(4, 16)) / 10;
        const auto found =
            means_of(this->queue(), match, {sigma, strength, magnitude_of(volume)}, volume);
        const auto expected = window_means_reference::denoise(match, sigma, strength, volume);
        for (std::size_t k = 0; k < volume.size(); ++k) {
            ASSERT_NEAR(found[k], expected[k], 1e-5 * range) << describe(match) << ", voxel " << k;
        }
    }
}

/// Any layers from the fewest that they need.
TYPED_TEST(WindowMeansTest, PartsHaveTheBytesOfTheWhole) {
    MatchCases cases(2);
    for (int i = 0; i < 20; ++i) {
        Match match = cases.any();
        match.volume[0] += 15;
        const std::vector<float> volume = cases.rough(match);
        const WindowMeans means{300, 1, magnitude_of(volume)};
        const auto whole = means_of(this->queue(), match, means, volume);
        const auto layer = match.volume[1] * match.volume[2];
        const std::int64_t reach = match.window[0] / 2 + match.patch[0] - 1;
        const std::int64_t first = cases.number(0, match.volume[0] - 1);
        const HeldLayers held{first, cases.number(1, match.volume[0] - first)};
        const std::int64_t low = std::max<std::int64_t>(0, first - reach);
        const std::int64_t high = std::min(match.volume[0], first + held.layers + reach);
        const auto part = means_of(this->queue(), match, means, volume, {low, high - low}, held);
        const std::vector<float> right(whole.begin() + first * layer,
                                       whole.begin() + (first + held.layers) * layer);
        EXPECT_TRUE(same_bytes(part, right))
            << describe(match) << ", layers " << first << " + " << held.layers;
    }
}

/// Every patch for which there is a kernel of its own, others, and both kinds of weight.
TYPED_TEST(WindowMeansTest, EveryQueueMakesTheSameBytes) {
    CpuQueue cpu(2);
    MatchCases cases(3);
    std::vector<std::array<int, 3>> patches(usual_patches.begin(), usual_patches.end());
    patches.insert(patches.end(),
                   {{1, 1, 1}, {2, 2, 2}, {4, 3, 2}, {6, 1, 8}, {7, 8, 1}, {8, 8, 8}});
    for (const auto& patch : patches) {
        const Match match = large(patch);
        const std::vector<float> volume = cases.rough(match);
        for (const double strength : {0.0, 0.9}) {
            const WindowMeans means{600, strength, magnitude_of(volume)};
            const OnlyTarget only(HWY_STATIC_TARGET);
            const auto expected = means_of(cpu, match, means, volume);
            EXPECT_TRUE(same_bytes(means_of(this->queue(), match, means, volume), expected))
                << describe(match);
        }
    }
}

/// Extents at which another block begins, and windows beyond those whose voxels a block copies.
TYPED_TEST(WindowMeansTest, EveryExtentMakesTheSameBytes) {
    CpuQueue cpu(2);
    MatchCases cases(7);
    for (const std::array<int, 3>& patch : {std::array{3, 3, 3}, {5, 5, 5}, {1, 5, 5}, {2, 4, 3}}) {
        for (const std::int64_t wide : {5, 31, 32, 33, 56, 57, 60, 61, 88, 89}) {
            Match match;
            match.patch = patch;
            match.volume = {cases.number(patch[0], 11), cases.number(5, 70), wide};
            std::swap(match.volume[1], match.volume[wide % 2 == 0 ? 1 : 2]);
            match.window = {patch[0] == 1 ? 1 : 2 * cases.number(0, 6) + 1,
                            2 * cases.number(0, 11) + 1, 2 * cases.number(0, 6) + 1};
            const std::vector<float> volume = cases.rough(match);
            const WindowMeans means{900, 0.9, magnitude_of(volume)};
            const OnlyTarget only(HWY_STATIC_TARGET);
            EXPECT_TRUE(same_bytes(means_of(this->queue(), match, means, volume),
                                   means_of(cpu, match, means, volume)))
                << describe(match);
        }
    }
}

/// Blocks of patches of 3³ that the volume's ends do not reach, and blocks that they do.
TYPED_TEST(WindowMeansTest, BlocksInTheMiddleMakeTheSameBytes) {
    CpuQueue cpu(2);
    MatchCases cases(8);
    Match match;
    match.patch = {3, 3, 3};
    for (const std::array<std::int64_t, 3>& window :
         {std::array<std::int64_t, 3>{11, 3, 1}, {1, 11, 3}, {3, 1, 11}, {5, 5, 5}}) {
        match.window = window;
        match.volume = {cases.number(27, 32), cases.number(66, 70), cases.number(66, 99)};
        const std::vector<float> volume = cases.rough(match);
        const WindowMeans means{700, 0.9, magnitude_of(volume)};
        const OnlyTarget only(HWY_STATIC_TARGET);
        EXPECT_TRUE(same_bytes(means_of(this->queue(), match, means, volume),
                               means_of(cpu, match, means, volume)))
            << describe(match);
    }
}

TYPED_TEST(WindowMeansTest, ConstantVolumesStayAsTheyAre) {
    MatchCases cases(4);
    for (const float value : {0.0F, -0.0F, 1.0F, -3.25F, 65535.0F, 1e-30F, 3e38F}) {
        for (const double sigma : {0.0, 2.0}) {
            const Match match = cases.any();
            const std::vector<float> volume = cases.constant(match, value);
            const auto found = means_of(this->queue(), match, {sigma, 1, std::abs(value)}, volume);
            for (const float voxel : found) {
                ASSERT_EQ(voxel, value) << describe(match);
                ASSERT_FALSE(voxel == 0 && std::signbit(voxel));
            }
        }
    }
}

/// Differences that overflow are no candidates', and sums do not.
TYPED_TEST(WindowMeansTest, TakesTheLargestVoxels) {
    Match match;
    match.volume = {5, 6, 40};
    match.patch = {2, 2, 2};
    match.window = {5, 5, 5};
    constexpr float most = std::numeric_limits<float>::max();
    std::vector<float> volume(1200, most);
    std::fill_n(volume.begin(), 600, -most);
    const auto found = means_of(this->queue(), match, {1e30, 1, most}, volume);
    for (std::size_t i = 0; i < volume.size(); ++i) {
        ASSERT_TRUE(std::isfinite(found[i])) << i;
    }
    EXPECT_EQ(found.front(), -most);
    EXPECT_EQ(found.back(), most);
}

TYPED_TEST(WindowMeansTest, WithoutNoiseOnlyEqualPatchesCount) {
    MatchCases cases(5);
    const Match match = cases.any();
    const std::vector<float> volume = cases.ties(match, 4);
    EXPECT_EQ(volume, means_of(this->queue(), match, {0, 1, 3}, volume));
    EXPECT_EQ(volume, means_of(this->queue(), match, {0, 0, 3}, volume));
}

TEST(WindowMeansTargets, EveryVectorSetMakesTheSameBytes) {
    CpuQueue queue(2);
    MatchCases cases(6);
    for (int i = 0; i < 15; ++i) {
        const Match match = cases.any();
        const std::vector<float> volume = cases.rough(match);
        const WindowMeans means{i % 5 == 0 ? 0.0 : 500.0, 0.8, magnitude_of(volume)};
        const OnlyTarget plain(HWY_STATIC_TARGET);
        const auto expected = means_of(queue, match, means, volume);
        for (const std::int64_t target : usable_targets()) {
            const OnlyTarget only(target);
            EXPECT_TRUE(same_bytes(means_of(queue, match, means, volume), expected))
                << hwy::TargetName(target) << ", " << describe(match);
        }
    }
}

} // namespace
} // namespace runner
