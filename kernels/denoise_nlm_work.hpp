// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise_nlm.hpp"
#include "kernels/match_work.hpp"

#include <cstdint>

namespace runner {

/// How many references along `axis` of the whole volume cover a place: those at multiples of the
/// step and the last corner.
constexpr std::int64_t covering_references(const MatchWork& work, int axis, std::int64_t at) {
    const std::int64_t last = work.corner[axis];
    const std::int64_t high = at < last ? at : last;
    const std::int64_t below = at - work.patch[axis]; // the highest corner that does not reach it
    const std::int64_t multiples = high / work.step - (below < 0 ? -1 : below / work.step);
    return multiples + (last % work.step != 0 && at >= last ? 1 : 0);
}

/// The numbers of one call, for both backends.
struct NlmWork {
    MatchWork match;
    std::int64_t held_first;
    std::int64_t held_layers;
    double free;    ///< distances up to here weigh one
    double falloff; ///< −1 / h², or −infinity
    double unit;    ///< 2^fraction_bits

    constexpr std::int64_t covering(std::int64_t z, std::int64_t y, std::int64_t x) const {
        return covering_references(match, 0, z) * covering_references(match, 1, y) *
               covering_references(match, 2, x);
    }
};

NlmWork make_nlm_work(const Match& match, const MatchLayers& layers, const Nlm& nlm,
                      const NlmLayers& held);

} // namespace runner
