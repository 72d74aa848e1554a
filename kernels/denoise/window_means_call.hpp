// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/window_means.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace runner {

/// 2^f for |f| ≤ 1/2 is the sum of these times f^i, by fused fma from the highest power down;
/// within 2.5 units of the last place, and 1 for f = 0.
constexpr float exp2_term(int i) {
    constexpr float terms[] = {1.0F,           0x1.62e42ap-1F, 0x1.ebf9c2p-3F,
                               0x1.c6b6d8p-5F, 0x1.3ce8aep-7F, 0x1.5bda4ap-10F};
    return terms[i];
}

/// How a D becomes a weight, in float32. With s = fma(D, slope, start), cut to 0 … 1, the weight is
/// (2^(32·s − 32) − 2^−32)·2^−lower: without the lower one the exponential where it is more than
/// 2^−32, and 0 where it is not.
struct WindowWeight {
    static constexpr float range = 32;

    float slope;   ///< < 0
    float start;   ///< ≥ 1
    float rounder; ///< t + rounder − rounder is a whole number; the sum's low bits are the exponent
    float least;   ///< 2^(−32 − lower)
    float one;     ///< 2^−lower
    float limit;   ///< where `is_step`: up to this D the weight is `one`, beyond it 0
    bool is_step;

    /// The same bits as on every backend.
    float of(float distance) const {
        if (is_step) {
            return distance <= limit ? one : 0.0F;
        }
        float s = std::fma(distance, slope, start);
        s = s > 1 ? 1.0F : (s > 0 ? s : 0.0F);
        const float rounded = std::fma(s, range, rounder);
        const float f = std::fma(s, range, -(rounded - rounder));
        float power = exp2_term(5);
        for (int i = 4; i >= 0; --i) {
            power = std::fma(power, f, exp2_term(i));
        }
        const auto exponent = std::bit_cast<std::uint32_t>(rounded) << 23U;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(power) + exponent) - least;
    }
};

WindowWeight make_window_weight(const Match& match, const WindowMeans& means);

/// The numbers of one call, for both backends. Places and extents are z, y, x.
struct WindowCall {
    std::int64_t volume[3]; ///< of the whole
    std::int64_t corner[3]; ///< the last corner
    std::int64_t half[3];   ///< of the window, and no more than can be met
    int patch[3];
    HeldLayers in;
    HeldLayers held;
    WindowWeight weight;
    bool is_huge; ///< voxels may differ by more than the largest float32

    constexpr std::int64_t offsets() const {
        return (2 * half[0] + 1) * (2 * half[1] + 1) * (2 * half[2] + 1);
    }
    /// For a voxel, about what float32 operations its means take.
    double operations() const {
        const int sums = 2 * (patch[0] + patch[1] + patch[2]);
        return static_cast<double>(offsets()) * (sums + 14.0);
    }
};

WindowCall make_window_call(const Match& match, const WindowMeans& means, const HeldLayers& in,
                            const HeldLayers& held);

/// The means of patches of 3³ in windows of at most 11³, by the march of window_march.cuh;
/// false, and nothing done, for others, for steps as weights and for huge voxels.
bool march_window_means(CudaQueue& queue, const WindowCall& call, const float* volume, float* out);

/// The means of any patch and window, by the tiles of window_means_tile.cuh.
void tile_window_means(CudaQueue& queue, const WindowCall& call, const float* volume, float* out);

} // namespace runner
