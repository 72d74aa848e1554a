// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/correct/correct.hpp"
#include "kernels/correct/negative_log.hpp"

#include <cmath>
#include <vector>

namespace runner {

/// kernels/correct/correct.hpp, a pixel at a time; fields of one value stand at every pixel. Counts
/// the values that are raised to the floor.
template <class In>
std::vector<float> correct_reference(const Correct& c, const std::vector<float>& dark,
                                     const std::vector<float>& flat, const std::vector<In>& in,
                                     std::uint64_t& raised) {
    std::vector<float> out;
    const auto pixels = static_cast<std::size_t>(c.rows * c.columns);
    for (std::size_t i = 0; i < in.size(); ++i) {
        const float d = dark.size() == 1 ? dark[0] : dark[i % pixels];
        const float f = flat.size() == 1 ? flat[0] : flat[i % pixels];
        const float range = f - d;
        float t = c.dead;
        if (range > 0 && std::isfinite(range)) {
            const auto x = static_cast<float>(in[i]);
            const float above = x - d;
            t = above / range;
        }
        if (c.clips && t < c.clip_low) {
            t = c.clip_low;
        } else if (c.clips && t > c.clip_high) {
            t = c.clip_high;
        }
        if (c.takes_log) {
            if (t < c.floor) {
                t = c.floor;
                ++raised;
            }
            t = negative_log(t);
        }
        out.push_back(t);
    }
    return out;
}

} // namespace runner
