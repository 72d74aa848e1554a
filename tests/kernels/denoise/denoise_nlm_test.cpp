// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/denoise_nlm.hpp"

#include "kernels/denoise/denoise_nlm_call.hpp"
#include "tests/reference/nlm_reference.hpp"
#include "tests/support/match_cases.hpp"

#include <cmath>

namespace runner {
namespace {

TEST(Nlm, ExponentialsAreRightToTheLastBitButOne) {
    for (int i = 0; i < 120000; ++i) {
        const double x = -i / 1000.0;
        const auto right = static_cast<float>(std::exp(x));
        const float low = std::nextafter(right, 0.0F);
        const float high = std::nextafter(right, 2.0F);
        ASSERT_GE(exp_below_zero(x), low) << x;
        ASSERT_LE(exp_below_zero(x), high) << x;
    }
    EXPECT_EQ(exp_below_zero(0), 1);
    EXPECT_EQ(exp_below_zero(-std::numeric_limits<double>::infinity()), 0);
}

template <class Q> class NlmTest : public QueueTest<Q> {
  protected:
    /// The result with layers of references taken in these parts, into one buffer of sums.
    std::vector<float> denoise(const Match& match, const Nlm& nlm, const std::vector<float>& volume,
                               const std::vector<MatchLayers>& parts) {
        Q& q = this->queue();
        const HeldLayers whole{0, match.volume[0]};
        const DeviceBytes<Q> sums(q, std::vector<std::byte>(8 * volume.size()));
        for (const MatchLayers& part : parts) {
            const MatchBuffers<Q> buffers(q, match, part, volume);
            match_patches(q, match, part, buffers.volume(), buffers.lists());
            add_nlm_estimates(q, match, part, nlm, buffers.volume(), buffers.lists(), whole,
                              reinterpret_cast<std::int64_t*>(sums.data()));
            q.synchronize();
        }
        const DeviceBytes<Q> out(q, std::vector<std::byte>(4 * volume.size()));
        finish_nlm(q, match, nlm, whole, reinterpret_cast<const std::int64_t*>(sums.data()),
                   reinterpret_cast<float*>(out.data()));
        const auto bytes = out.fetch();
        std::vector<float> result(volume.size());
        std::memcpy(result.data(), bytes.data(), bytes.size());
        return result;
    }

    std::vector<float> denoise(const Match& match, const Nlm& nlm,
                               const std::vector<float>& volume) {
        return denoise(match, nlm, volume, {match_layers(match, 0, match.volume[0])});
    }
};

Nlm make_nlm(double sigma, double strength, const std::vector<float>& volume) {
    float most = 0;
    for (const float value : volume) {
        most = std::max(most, std::abs(value));
    }
    return {sigma, strength, nlm_fraction_bits(most)};
}

/// A match whose references cover every voxel.
Match covering(MatchCases& cases) {
    Match match = cases.any();
    const int least = *std::min_element(match.patch.begin(), match.patch.end());
    match.step = std::min<std::int64_t>(match.step, least);
    match.order = MatchOrder::nearest_first;
    return match;
}

TYPED_TEST_SUITE(NlmTest, TestQueues);

TYPED_TEST(NlmTest, IsTheFloat64VersionWithinTheSpecsTolerance) {
    MatchCases cases(1);
    for (int i = 0; i < 25; ++i) {
        const Match match = covering(cases);
        const std::vector<float> volume = i % 3 == 0 ? cases.ties(match, 3) : cases.rough(match);
        const double range = i % 3 == 0 ? 2 : 2000;
        const double sigma = range * static_cast<double>(cases.number(1, 30)) / 100;
        const auto found = this->denoise(match, make_nlm(sigma, 0.8, volume), volume);
        const auto expected = nlm_reference::denoise(match, sigma, 0.8, volume);
        for (std::size_t k = 0; k < volume.size(); ++k) {
            ASSERT_NEAR(found[k], expected[k], 1e-5 * range) << describe(match) << ", voxel " << k;
        }
    }
}

TYPED_TEST(NlmTest, PartsInAnyOrderGiveTheSameBytes) {
    MatchCases cases(2);
    for (int i = 0; i < 10; ++i) {
        Match match = covering(cases);
        match.volume[0] += 9;
        const std::vector<float> volume = cases.rough(match);
        const Nlm nlm = make_nlm(300, 1, volume);
        std::vector<MatchLayers> parts;
        for (std::int64_t first = 0; first < match.volume[0];) {
            MatchLayers part = match_layers(match, first, cases.number(1, 6));
            first += part.out_layers;
            while (part.first_line < match.volume[1]) {
                part.lines = cases.number(1, match.volume[1]);
                parts.push_back(part);
                part.first_line += part.lines;
            }
        }
        std::reverse(parts.begin(), parts.end());
        EXPECT_EQ(this->denoise(match, nlm, volume), this->denoise(match, nlm, volume, parts))
            << describe(match);
    }
}

TYPED_TEST(NlmTest, SumsOfSomeLayersAreThoseOfTheWhole) {
    MatchCases cases(3);
    TypeParam& q = this->queue();
    for (int i = 0; i < 10; ++i) {
        Match match = covering(cases);
        match.volume[0] += 9;
        const std::vector<float> volume = cases.rough(match);
        const Nlm nlm = make_nlm(300, 1, volume);
        const auto whole = this->denoise(match, nlm, volume);
        const auto layer = static_cast<std::size_t>(match.volume[1] * match.volume[2]);
        // Layers [first, first + layers) and all references that cover any of them.
        const std::int64_t first = cases.number(0, match.volume[0] - 1);
        const HeldLayers held{first, cases.number(1, match.volume[0] - first)};
        const std::int64_t low = std::max<std::int64_t>(0, first - match.patch[0] + 1);
        const MatchLayers part = match_layers(match, low, first + held.layers - low);
        const auto voxels = static_cast<std::size_t>(held.layers) * layer;
        const MatchBuffers<TypeParam> buffers(q, match, part, volume);
        const DeviceBytes<TypeParam> sums(q, std::vector<std::byte>(8 * voxels));
        const DeviceBytes<TypeParam> out(q, std::vector<std::byte>(4 * voxels));
        auto* units = reinterpret_cast<std::int64_t*>(sums.data());
        match_patches(q, match, part, buffers.volume(), buffers.lists());
        add_nlm_estimates(q, match, part, nlm, buffers.volume(), buffers.lists(), held, units);
        finish_nlm(q, match, nlm, held, units, reinterpret_cast<float*>(out.data()));
        const auto bytes = out.fetch();
        EXPECT_EQ(0,
                  std::memcmp(bytes.data(), whole.data() + static_cast<std::size_t>(first) * layer,
                              bytes.size()))
            << describe(match) << ", layers " << first << " + " << held.layers;
    }
}

TYPED_TEST(NlmTest, ConstantVolumesStayAsTheyAre) {
    MatchCases cases(4);
    for (const float value : {0.0F, 1.0F, -3.25F, 65535.0F, 1e-30F, 1e30F}) {
        for (const double sigma : {0.0, 2.0}) {
            const Match match = covering(cases);
            const std::vector<float> volume = cases.constant(match, value);
            const auto found = this->denoise(match, make_nlm(sigma, 1, volume), volume);
            for (const float voxel : found) {
                ASSERT_NEAR(voxel, value, 1e-6 * std::abs(value));
            }
        }
    }
}

TYPED_TEST(NlmTest, WithoutNoiseOnlyEqualPatchesCount) {
    MatchCases cases(5);
    const Match match = covering(cases);
    const std::vector<float> volume = cases.ties(match, 4);
    // Patches at distance 0 are the patch itself.
    EXPECT_EQ(volume, this->denoise(match, make_nlm(0, 1, volume), volume));
    EXPECT_EQ(volume, this->denoise(match, make_nlm(0, 0, volume), volume));
}

TYPED_TEST(NlmTest, NoiseIsReduced) {
    MatchCases cases(6);
    Match match;
    match.volume = {12, 24, 24};
    match.patch = {3, 3, 3};
    match.window = {7, 7, 7};
    match.count = 16;
    std::vector<float> clean = cases.constant(match, 0);
    std::vector<float> noisy = clean;
    std::mt19937 random(7);
    std::normal_distribution<float> noise(0, 10);
    for (std::size_t i = 0; i < clean.size(); ++i) {
        clean[i] = i / 24 % 24 < 12 ? 50 : 150;
        noisy[i] = clean[i] + noise(random);
    }
    const auto found = this->denoise(match, make_nlm(10, 1, noisy), noisy);
    const auto error = [&](const std::vector<float>& volume) {
        double sum = 0;
        for (std::size_t i = 0; i < volume.size(); ++i) {
            sum += std::pow(static_cast<double>(volume[i]) - static_cast<double>(clean[i]), 2);
        }
        return sum / static_cast<double>(volume.size());
    };
    // 5 dB at least.
    EXPECT_LT(error(found), error(noisy) / 3.16);
}

} // namespace
} // namespace runner
