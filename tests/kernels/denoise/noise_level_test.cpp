// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/noise_level.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Extents = std::array<std::int64_t, 3>;

std::size_t voxels(const Extents& e) { return static_cast<std::size_t>(e[0] * e[1] * e[2]); }

/// Normal noise over a slope.
std::vector<float> noisy(const Extents& extents, double sigma, double slope, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, 1);
    std::vector<float> volume(voxels(extents));
    for (std::size_t i = 0; i < volume.size(); ++i) {
        const auto x = static_cast<double>(i % static_cast<std::size_t>(extents[2]));
        volume[i] = static_cast<float>(slope * x + sigma * noise(random));
    }
    return volume;
}

/// The definition, in float64 and sorted.
double reference_sigma(const Extents& extents, const std::vector<float>& volume) {
    Extents side{};
    double scale = 1;
    for (std::size_t i = 0; i < 3; ++i) {
        side[i] = extents[i] > 1 ? 2 : 1;
        scale *= extents[i] > 1 ? std::sqrt(0.5) : 1;
    }
    std::vector<double> magnitudes;
    for (std::int64_t z = 0; z + side[0] <= extents[0]; z += side[0]) {
        for (std::int64_t y = 0; y + side[1] <= extents[1]; y += side[1]) {
            for (std::int64_t x = 0; x + side[2] <= extents[2]; x += side[2]) {
                double sum = 0;
                bool constant = true;
                bool invalid = false;
                for (std::int64_t i = 0; i < side[0] * side[1] * side[2]; ++i) {
                    const Extents d = {i / side[2] / side[1], i / side[2] % side[1], i % side[2]};
                    const double sign = (d[0] + d[1] + d[2]) % 2 == 0 ? 1 : -1;
                    const float value = volume[static_cast<std::size_t>(
                        ((z + d[0]) * extents[1] + y + d[1]) * extents[2] + x + d[2])];
                    sum += sign * static_cast<double>(value);
                    invalid = invalid || std::isnan(value);
                    constant =
                        constant &&
                        value ==
                            volume[static_cast<std::size_t>((z * extents[1] + y) * extents[2] + x)];
                }
                if (!constant && !invalid) {
                    magnitudes.push_back(std::abs(sum) * scale);
                }
            }
        }
    }
    std::sort(magnitudes.begin(), magnitudes.end());
    const std::size_t count = magnitudes.size();
    return count == 0 ? 0 : (magnitudes[(count - 1) / 2] + magnitudes[count / 2]) / 2 / 0.6745;
}

/// Counts with the layers taken in parts of so many.
std::vector<std::uint64_t> count_parts(const Extents& extents, const std::vector<float>& volume,
                                       std::int64_t layers) {
    CpuQueue queue(2);
    ThreadCounts bins(haar_bins);
    for (std::int64_t first = 0; first < extents[0]; first += layers) {
        const std::int64_t in_layers = std::min(layers + 1, extents[0] - first);
        count_haar(queue, extents, {first, in_layers, first, layers},
                   volume.data() + first * extents[1] * extents[2], bins);
    }
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(haar_counts));
    bins.move_to(counts.data());
    return counts;
}

double sigma_of(const Extents& extents, const std::vector<float>& volume) {
    return noise_sigma(count_parts(extents, volume, extents[0]).data());
}

TEST(NoiseLevelTest, IsWithinFivePerCentOfTheNoise) {
    unsigned seed = 1;
    for (const Extents& extents :
         {Extents{40, 40, 40}, {41, 33, 55}, {1, 200, 201}, {1, 1, 30000}, {20000, 1, 2}}) {
        for (const double sigma : {0.01, 1.0, 30.0, 5000.0}) {
            const auto volume = noisy(extents, sigma, extents[1] > 1 ? 3 * sigma : 0, ++seed);
            EXPECT_NEAR(sigma_of(extents, volume) / sigma, 1, 0.05) << extents[0];
        }
    }
}

TEST(NoiseLevelTest, IsTheMedianOfTheDefinition) {
    std::mt19937 random(5);
    for (int i = 0; i < 30; ++i) {
        Extents extents{};
        for (auto& extent : extents) {
            extent = static_cast<std::int64_t>(1 + random() % 9);
        }
        const auto volume = noisy(extents, 7, 0, static_cast<unsigned>(i));
        const double right = reference_sigma(extents, volume);
        EXPECT_NEAR(sigma_of(extents, volume), right, right * 0x1p-12);

        auto all = count_parts(extents, volume, extents[0]);
        CpuQueue cpu(2);
        ThreadCounts steps(2 * haar_steps);
        for (std::int64_t z = 0; z < extents[0]; z += 2) { // in parts
            count_haar_steps(cpu, extents, {0, extents[0], z, 2}, volume.data(),
                             middle_bins(all.data()), steps);
        }
        steps.move_to(all.data() + haar_bins);
        EXPECT_NEAR(noise_sigma(all.data()), right, right * 1e-6);
    }
}

/// Half of the volume, more and all; and single voxels that differ.
TEST(NoiseLevelTest, IgnoresRegionsOfOneValue) {
    for (const Extents& extents : {Extents{8, 9, 12}, {1, 20, 30}, {7, 1, 40}, {1, 1, 200}}) {
        auto volume = noisy(extents, 7, 0, 3);
        for (std::size_t i = 0; i < volume.size(); ++i) {
            const auto x = i % static_cast<std::size_t>(extents[2]);
            if (x >= 6 && i != volume.size() - 3) {
                volume[i] = x % 2 == 0 || x < 10 ? -3.5F : volume[i - 1];
            }
        }
        const double right = reference_sigma(extents, volume);
        EXPECT_GT(right, 0);
        const auto counts = count_parts(extents, volume, extents[0]);
        EXPECT_NEAR(noise_sigma(counts.data()), right, right * 0x1p-12);
        EXPECT_LT(counted_voxels(extents, counts.data()), std::ssize(volume) * 3 / 4);
        EXPECT_GT(counted_voxels(extents, counts.data()), 0);
    }
}

/// Where all are NaN nothing is left.
TEST(NoiseLevelTest, LeavesOutCubesWithNaN) {
    for (const Extents& extents : {Extents{8, 9, 12}, {1, 20, 30}, {7, 1, 40}, {1, 1, 200}}) {
        for (const unsigned share : {1U, 34U, 100U}) {
            std::mt19937 random(share);
            auto volume = noisy(extents, 7, 0, 3);
            for (float& voxel : volume) {
                voxel = random() % 100 < share ? std::numeric_limits<float>::quiet_NaN() : voxel;
            }
            const double right = reference_sigma(extents, volume);
            const auto counts = count_parts(extents, volume, extents[0]);
            EXPECT_NEAR(noise_sigma(counts.data()), right, right * 0x1p-12);
            EXPECT_EQ(counted_voxels(extents, counts.data()) == 0, share == 100);
        }
    }
}

TEST(NoiseLevelTest, IsZeroWithoutNoise) {
    const Extents extents = {6, 7, 8};
    for (const float value : {0.0F, -2.5F, 65535.0F}) {
        EXPECT_EQ(0, sigma_of(extents, std::vector<float>(voxels(extents), value)));
    }
    EXPECT_EQ(0, noise_sigma(std::vector<std::uint64_t>(haar_counts).data()));
}

TEST(NoiseLevelTest, PartsCountAsTheWhole) {
    for (const std::int64_t extent : {1, 2, 3, 8, 11}) {
        const Extents extents = {extent, 6, 9};
        const auto volume = noisy(extents, 1, 0, 9);
        const auto whole = count_parts(extents, volume, extent);
        for (std::int64_t layers = 1; layers <= extent; ++layers) {
            EXPECT_EQ(whole, count_parts(extents, volume, layers)) << extent << ' ' << layers;
        }
    }
}

} // namespace
} // namespace runner
