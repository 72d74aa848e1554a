// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/denoise_nlm.hpp"
#include "kernels/match/match_call.hpp"

#include <bit>
#include <cstdint>

namespace runner {

/// exp(x) for x ≤ 0, right to 1e-12 of itself before it is rounded. Of sums and products in float64
/// alone, so that every backend and C library makes the same bits.
constexpr float exp_below_zero(double x) {
    if (!(x > -104)) { // less than half of the least float32
        return 0;
    }
    // x = n · ln 2 + r with |r| ≤ ln 2 / 2; the upper part of ln 2 times n is exact.
    constexpr double upper = 0x1.62e42feep-1;
    constexpr double lower = 0x1.a39ef35793c76p-33;
    const auto n = static_cast<int>(x * 1.4426950408889634 - 0.5);
    const double r = (x - n * upper) - n * lower;
    double sum = 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 1.0 / 2;
    sum = sum * r + 1;
    sum = sum * r + 1;
    const auto exponent = static_cast<std::uint64_t>(std::int64_t{1023} + n);
    return static_cast<float>(sum * std::bit_cast<double>(exponent << 52U));
}

/// How many references along `axis` of the whole volume cover a place: those at multiples of the
/// step and the last corner.
constexpr std::int64_t covering_references(const MatchCall& call, int axis, std::int64_t at) {
    const std::int64_t last = call.corner[axis];
    const std::int64_t high = at < last ? at : last;
    const std::int64_t below = at - call.patch[axis]; // the highest corner that does not reach it
    const std::int64_t multiples = high / call.step - (below < 0 ? -1 : below / call.step);
    return multiples + (last % call.step != 0 && at >= last ? 1 : 0);
}

/// The numbers of one call, for both backends.
struct NlmCall {
    MatchCall match;
    std::int64_t held_first;
    std::int64_t held_layers;
    double free;    ///< distances up to here weigh one
    double falloff; ///< −1 / h², or −infinity
    double unit;    ///< 2^fraction_bits

    /// The operations of a reference's estimate; what nlm_operations() is made of.
    double operations() const {
        const int voxels = match.patch[0] * match.patch[1] * match.patch[2];
        return 8.0 * voxels * match.count;
    }

    /// The weight of a match at this distance.
    constexpr float weight(float distance) const {
        const double over = static_cast<double>(distance) - free;
        return over > 0 ? exp_below_zero(over * falloff) : 1.0F;
    }

    /// An estimate of a voxel, in units of the sums but not yet rounded.
    constexpr double estimate(float sum, float weights) const {
        return static_cast<double>(sum / weights) * unit;
    }

    /// The voxel that the sum of its estimates makes.
    constexpr float mean(std::int64_t sum, std::int64_t z, std::int64_t y, std::int64_t x) const {
        const double units = static_cast<double>(sum) / static_cast<double>(covering(z, y, x));
        return static_cast<float>(units / unit);
    }

  private:
    constexpr std::int64_t covering(std::int64_t z, std::int64_t y, std::int64_t x) const {
        return covering_references(match, 0, z) * covering_references(match, 1, y) *
               covering_references(match, 2, x);
    }
};

NlmCall make_nlm_call(const Match& match, const MatchLayers& layers, const Nlm& nlm,
                      const HeldLayers& held);

} // namespace runner
