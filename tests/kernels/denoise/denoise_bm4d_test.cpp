// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/denoise_bm4d.hpp"

#include "tests/reference/bm4d_reference.hpp"
#include "tests/support/match_cases.hpp"

#include <cmath>

namespace runner {
namespace {

/// The pass' result in layers `held`, references taken in these parts into one buffer of sums.
template <class Q>
std::vector<float> filter(Q& queue, const Match& match, double sigma, float magnitude,
                          const std::vector<float>& noisy, const std::vector<float>& first,
                          const HeldLayers& held, const std::vector<MatchLayers>& parts) {
    const Bm4d bm4d = make_bm4d(match, sigma, magnitude);
    const auto layer = static_cast<std::size_t>(match.volume[1] * match.volume[2]);
    const std::size_t voxels = static_cast<std::size_t>(held.layers) * layer;
    constexpr std::byte poison{0x5A};
    const DeviceBytes<Q> values(queue, std::vector<std::byte>(8 * voxels, poison));
    const DeviceBytes<Q> weights(
        queue,
        std::vector<std::byte>(8 * static_cast<std::size_t>(bm4d_weights(match, held)), poison));
    const Bm4dSums sums{reinterpret_cast<std::int64_t*>(values.data()),
                        reinterpret_cast<std::int64_t*>(weights.data())};
    clear_bm4d_sums(queue, match, held, sums);
    for (const MatchLayers& part : parts) {
        const MatchBuffers<Q> from(queue, match, part, noisy);
        const MatchBuffers<Q> guide(queue, match, part, first.empty() ? noisy : first);
        match_patches(queue, match, part, guide.volume(), guide.lists());
        const Bm4dVolumes volumes{from.volume(), first.empty() ? nullptr : guide.volume()};
        add_bm4d_estimates(queue, match, part, bm4d, volumes, guide.lists(), held, sums);
        queue.synchronize();
    }
    const DeviceBytes<Q> out(queue, std::vector<std::byte>(4 * voxels));
    finish_bm4d(queue, match, bm4d, held, sums, reinterpret_cast<float*>(out.data()));
    const auto bytes = out.fetch();
    std::vector<float> result(voxels);
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
}

template <class Q>
std::vector<float> filter(Q& queue, const Match& match, double sigma,
                          const std::vector<float>& noisy, const std::vector<float>& first = {}) {
    return filter(queue, match, sigma, 1000, noisy, first, {0, match.volume[0]},
                  {match_layers(match, 0, match.volume[0])});
}

/// A match whose references cover every voxel and whose groups are no larger than allowed; every
/// other time of cubes of 4.
Match covering(MatchCases& cases) {
    Match match = cases.any();
    if (cases.number(0, 1) == 0) {
        match.patch = {4, 4, 4};
        match.count = 8 << cases.number(0, 3);
        for (std::size_t i = 0; i < 3; ++i) {
            match.volume[i] = 4 + cases.number(0, 7);
        }
    }
    while (match.patch_voxels() * bm4d_group(match.count) > Bm4d::most_values) {
        match.count /= 2;
    }
    const int least = *std::min_element(match.patch.begin(), match.patch.end());
    match.step = std::min<std::int64_t>(cases.number(1, 3), least);
    match.order = MatchOrder::nearest_first;
    return match;
}

/// Steps and noise: some coefficients are large and most are not.
std::vector<float> scene(MatchCases& cases, const Match& match) {
    std::vector<float> volume = cases.rough(match);
    for (std::size_t i = 0; i < volume.size(); ++i) {
        const bool upper = i % static_cast<std::size_t>(match.volume[2]) * 2 >=
                           static_cast<std::size_t>(match.volume[2]);
        volume[i] = volume[i] / 5 + (upper ? 700.0F : -600.0F);
    }
    return volume;
}

/// Mostly one value: many equal patches, of which a reference's own may come late.
std::vector<float> flat_parts(MatchCases& cases, const Match& match) {
    std::vector<float> volume = cases.constant(match, 300);
    for (float& value : volume) {
        value += cases.number(0, 99) == 0 ? 400.0F : 0.0F;
    }
    return volume;
}

template <class Q> class Bm4dTest : public QueueTest<Q> {};
TYPED_TEST_SUITE(Bm4dTest, TestQueues);

TYPED_TEST(Bm4dTest, BothPassesAreTheFloat64VersionWithinTheSpecsTolerance) {
    MatchCases cases(1);
    constexpr double range = 2000;
    std::size_t certain = 0;
    std::size_t certain_second = 0;
    std::size_t all = 0;
    for (int i = 0; i < 24; ++i) {
        Match match = covering(cases);
        const std::vector<float> noisy = i % 4 == 0   ? cases.rough(match)
                                         : i % 4 == 1 ? flat_parts(cases, match)
                                                      : scene(cases, match);
        if (i % 3 == 0) { // smaller groups, of sizes of their own
            match.threshold = static_cast<float>(cases.number(20000, 60000));
        }
        const double sigma = static_cast<double>(cases.number(1, 200));
        const auto first = filter(this->queue(), match, sigma, noisy);
        const auto right = bm4d_reference::denoise(match, sigma, noisy, {}, 1e-6 * range);
        for (std::size_t k = 0; k < noisy.size(); ++k) {
            ++all;
            if (!right.doubtful[k]) {
                ++certain;
                ASSERT_NEAR(first[k], right.voxels[k], 1e-5 * range)
                    << describe(match) << ", sigma " << sigma << ", voxel " << k;
            }
        }
        match.threshold = std::numeric_limits<float>::infinity();
        const auto second = filter(this->queue(), match, sigma, noisy, first);
        const auto likely = bm4d_reference::denoise(match, sigma, noisy, first, 1e-6 * range);
        for (std::size_t k = 0; k < noisy.size(); ++k) {
            if (!likely.doubtful[k]) {
                ++certain_second;
                ASSERT_NEAR(second[k], likely.voxels[k], 1e-5 * range)
                    << describe(match) << ", sigma " << sigma << ", second pass, voxel " << k;
            }
        }
    }
    EXPECT_GT(certain, all / 2);
    EXPECT_GT(certain_second, all / 10 * 9);
}

TYPED_TEST(Bm4dTest, EveryQueueMakesTheSameBytes) {
    MatchCases cases(2);
    CpuQueue one(1);
    for (int i = 0; i < 16; ++i) {
        Match match = covering(cases);
        if (i % 2 == 0) {
            match.threshold = static_cast<float>(cases.number(20000, 60000));
        }
        const std::vector<float> noisy = scene(cases, match);
        const auto first = filter(this->queue(), match, 50, noisy);
        EXPECT_EQ(first, filter(one, match, 50, noisy)) << describe(match);
        EXPECT_EQ(filter(this->queue(), match, 50, noisy, first),
                  filter(one, match, 50, noisy, first))
            << describe(match);
    }
}

TYPED_TEST(Bm4dTest, PartsInAnyOrderGiveTheSameBytes) {
    MatchCases cases(3);
    for (int i = 0; i < 8; ++i) {
        Match match = covering(cases);
        match.volume[0] += 9;
        const std::vector<float> noisy = scene(cases, match);
        std::vector<MatchLayers> parts;
        for (std::int64_t first = 0; first < match.volume[0];) {
            MatchLayers part = match_layers(match, first, cases.number(1, 6));
            first += part.out_layers;
            while (part.first_line < match.volume[1]) {
                part.lines = cases.number(1, match.volume[1]);
                if (match_rows(match, part) > 0) {
                    parts.push_back(part);
                }
                part.first_line += part.lines;
            }
        }
        std::reverse(parts.begin(), parts.end());
        const auto whole = filter(this->queue(), match, 50, noisy);
        EXPECT_EQ(whole,
                  filter(this->queue(), match, 50, 1000, noisy, {}, {0, match.volume[0]}, parts))
            << describe(match);
    }
}

TYPED_TEST(Bm4dTest, SomeLayersAreThoseOfTheWhole) {
    MatchCases cases(4);
    for (int i = 0; i < 8; ++i) {
        Match match = covering(cases);
        match.volume[0] += 19;
        const std::vector<float> noisy = scene(cases, match);
        const auto layer = match.volume[1] * match.volume[2];
        const HeldLayers held{cases.number(0, match.volume[0] - 1), 1};
        // All references whose windows reach the layer, and no more voxels than they need.
        const std::int64_t reach = bm4d_reach(match);
        const std::int64_t low = std::max<std::int64_t>(0, held.first - reach);
        const std::int64_t high = std::min(match.volume[0], held.first + 1 + reach);
        const std::int64_t half = match.window[0] / 2;
        const std::int64_t lowest =
            std::max<std::int64_t>(0, held.first - half - match.patch[0] + 1);
        const MatchLayers part = match_layers(match, lowest, held.first + half + 1 - lowest);
        EXPECT_GE(part.in_first, low);
        EXPECT_LE(part.in_first + part.in_layers, high);
        const auto found = filter(this->queue(), match, 50, 1000, noisy, {}, held, {part});
        const auto whole = filter(this->queue(), match, 50, noisy);
        EXPECT_EQ(found, std::vector<float>(whole.begin() + held.first * layer,
                                            whole.begin() + (held.first + 1) * layer))
            << describe(match) << ", layer " << held.first;
    }
}

TYPED_TEST(Bm4dTest, ConstantVolumesOfCubesStayToTheBit) {
    MatchCases cases(5);
    Match match;
    match.volume = {7, 9, 11};
    match.patch = {4, 4, 4};
    match.window = {7, 7, 7};
    match.count = 16;
    match.step = 3;
    for (const float value : {0.0F, 1.0F, -3.25F, 65535.0F, 1e-30F, 1e30F}) {
        for (const double sigma : {0.0, 2.0}) {
            const std::vector<float> volume = cases.constant(match, value);
            const auto found = filter(this->queue(), match, sigma, std::abs(value), volume, {},
                                      {0, 7}, {match_layers(match, 0, 7)});
            EXPECT_EQ(found, volume) << value;
        }
    }
}

TYPED_TEST(Bm4dTest, WithoutNoiseNothingChanges) {
    MatchCases cases(6);
    const Match match = covering(cases);
    const std::vector<float> volume = cases.rough(match);
    const auto first = filter(this->queue(), match, 0, volume);
    const auto second = filter(this->queue(), match, 0, volume, first);
    for (std::size_t i = 0; i < volume.size(); ++i) {
        ASSERT_NEAR(first[i], volume[i], 1e-3);
        ASSERT_NEAR(second[i], volume[i], 1e-3);
    }
}

/// Patches along a line of voxels, at every voxel.
Match line_match(std::int64_t voxels, int patch, int window, int count) {
    Match match;
    match.volume = {1, 1, voxels};
    match.patch = {1, 1, patch};
    match.window = {1, 1, window};
    match.count = count;
    match.step = 1;
    return match;
}

/// Pairs of voxels in a line; neighbours in a group are 0, 10 twice, or that and 10, 0.
Match pairs() { return line_match(4, 2, 5, 3); }

TYPED_TEST(Bm4dTest, ThresholdsAreThoseWorkedOutByHand) {
    // The transform of (0, 10) twice: the mean of all is 10 as an orthonormal coefficient, the
    // difference along x −10, others 0. Of (10, 0) and (0, 10): the mean is 10, and the difference
    // of differences.
    const std::vector<float> line = {0, 10, 0, 10};
    const auto kept = filter(this->queue(), pairs(), 9.99 / 2.7, line);
    const auto dropped = filter(this->queue(), pairs(), 10.01 / 2.7, line);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(kept[i], line[i], 1e-5);
        EXPECT_NEAR(dropped[i], 5, 1e-5); // the mean stays, though it is less than the threshold
    }
}

TYPED_TEST(Bm4dTest, WienersFactorsAreThoseWorkedOutByHand) {
    // Coefficients of 10 and 0 as above; 10² / (10² + 10²) is a half, 10² / (10² + 20²) a fifth.
    const std::vector<float> line = {0, 10, 0, 10};
    const auto half = filter(this->queue(), pairs(), 10, line, line);
    const auto fifth = filter(this->queue(), pairs(), 20, line, line);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(half[i], line[i] / 2, 1e-5);
        EXPECT_NEAR(fifth[i], line[i] / 5, 1e-5);
    }
}

TYPED_TEST(Bm4dTest, EstimatesWeighTheInverseOfWhatIsLeft) {
    const Match match = line_match(3, 2, 1, 1);
    // Groups of one: of (0, 8) the mean, 8/√2 = 5.66, and difference −5.66; of (8, 108) 82 and −71.
    // A threshold of 20 leaves 1 and 2 coefficients, so the middle is (4·1 + 8·½) / (1 + ½).
    const auto found = filter(this->queue(), match, 20 / 2.7, {0, 8, 108});
    EXPECT_NEAR(found[0], 4, 1e-5);
    EXPECT_NEAR(found[1], 16.0 / 3, 1e-5);
    EXPECT_NEAR(found[2], 108, 1e-4);
}

/// Single voxels in pairs: of 0, 8 and 20 the groups are (0, 8), (8, 0) and (20, 8), whose
/// distances are 64, 64 and 144.
Match voxel_pairs() { return line_match(3, 1, 3, 2); }

TYPED_TEST(Bm4dTest, PatchesUnlikeTheReferenceWeighAnEighthInTheFirstPass) {
    // The means, 4, 4 and 14, are left of each group. The limit is 3·5² = 75.
    const auto found = filter(this->queue(), voxel_pairs(), 5, {0, 8, 20});
    EXPECT_NEAR(found[0], 4, 1e-5);
    EXPECT_NEAR(found[1], (4 + 4 + 14.0 / 8) / (1 + 1 + 1.0 / 8), 1e-5);
    EXPECT_NEAR(found[2], 14, 1e-5);
    // 3·7² = 147: all are alike.
    const auto alike = filter(this->queue(), voxel_pairs(), 7, {0, 8, 20});
    EXPECT_NEAR(alike[1], (4 + 4 + 14.0) / 3, 1e-5);
}

TYPED_TEST(Bm4dTest, PatchesUnlikeTheReferenceWeighAnEighthInTheSecondPass) {
    // The limit is 17² / 4 = 72.25. Squares of coefficients: 32 and 32, twice, and 392 and 72.
    const double low = 32.0 / (32 + 289);
    const double low_weight = 1 / (2 * low * low);
    const double mean = 392.0 / (392 + 289);
    const double difference = 72.0 / (72 + 289);
    const double part = 1 / (mean * mean + difference * difference) / 8;
    const std::vector<float> line = {0, 8, 20};
    const auto found = filter(this->queue(), voxel_pairs(), 17, line, line);
    EXPECT_NEAR(found[0], 0, 1e-5);
    EXPECT_NEAR(found[1],
                (2 * low_weight * 8 * low + part * (14 * mean - 6 * difference)) /
                    (2 * low_weight + part),
                1e-5);
    EXPECT_NEAR(found[2], 14 * mean + 6 * difference, 1e-5);
}

/// Patches of four voxels in groups of one.
Match fours(std::int64_t voxels) { return line_match(voxels, 4, 1, 1); }

TYPED_TEST(Bm4dTest, ThePassesTakeTheBasisThatLeavesLess) {
    // Haar: 8.5, −7.5, −0.71, 0. Cosines: 8.5, −7.12, −0.5, 2.41. Of those 2 and 3 are at least 2.
    const std::vector<float> step = {0, 1, 8, 8};
    const auto halves = filter(this->queue(), fours(4), 2 / 2.7, step);
    EXPECT_NEAR(halves[0], 0.5, 1e-5);
    EXPECT_NEAR(halves[1], 0.5, 1e-5);
    EXPECT_NEAR(halves[2], 8, 1e-5);
    EXPECT_NEAR(halves[3], 8, 1e-5);
    // With sigma 2 Haar's factors are 72.25/76.25, 56.25/60.25, 0.5/4.5 and 0, the sum of their
    // squares 1.78; those of cosines 72.25/76.25, 50.7/54.7, 0.25/4.25 and 5.8/9.8, 2.11.
    const auto likely = filter(this->queue(), fours(4), 2, step, step);
    const double mean = 4.25 * 72.25 / 76.25;
    const double half = 3.75 * 56.25 / 60.25;
    EXPECT_NEAR(likely[0], mean - half - 0.5 / 9, 1e-5);
    EXPECT_NEAR(likely[1], mean - half + 0.5 / 9, 1e-5);
    EXPECT_NEAR(likely[2], mean + half, 1e-5);
    EXPECT_NEAR(likely[3], mean + half, 1e-5);
    // Haar: 6, −4, −1.41, −1.41. Cosines: 6, −4.46, 0, −0.317, which alone is lost here.
    const auto ramp = filter(this->queue(), fours(4), 1 / 2.7, {0, 2, 4, 6});
    const double end = 0.5411961;    // cos(3π/8) · √2
    const double inner = 1.30656296; // cos(π/8) · √2
    const double lost = (2 * inner - 6 * end) / 2;
    EXPECT_NEAR(ramp[0], 0 - lost * end / 2, 1e-5);
    EXPECT_NEAR(ramp[1], 2 + lost * inner / 2, 1e-5);
    EXPECT_NEAR(ramp[2], 4 - lost * inner / 2, 1e-5);
    EXPECT_NEAR(ramp[3], 6 + lost * end / 2, 1e-5);
}

TYPED_TEST(Bm4dTest, InnerVoxelsOfAPatchCountTwice) {
    // The means of both patches are left, 4 and 6.
    const auto found = filter(this->queue(), fours(5), 100, {0, 0, 8, 8, 8});
    EXPECT_NEAR(found[0], 4, 1e-5);
    EXPECT_NEAR(found[1], (2 * 4 + 6) / 3.0, 1e-5);
    EXPECT_NEAR(found[2], 5, 1e-5);
    EXPECT_NEAR(found[3], (4 + 2 * 6) / 3.0, 1e-5);
    EXPECT_NEAR(found[4], 6, 1e-5);
}

} // namespace
} // namespace runner
