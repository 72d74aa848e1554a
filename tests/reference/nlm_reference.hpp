// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/denoise_nlm.hpp"
#include "tests/reference/match_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace runner::nlm_reference {

/// Non-local means of a whole volume in float64, from the lists of match_reference.
inline std::vector<double> denoise(const Match& match, double sigma, double strength,
                                   const std::vector<float>& volume) {
    const match_reference::Lists lists = match_reference::match(match, volume);
    std::vector<double> sum(volume.size());
    std::vector<int> estimates(volume.size());
    const auto plane = static_cast<std::uint64_t>(match.volume[1] * match.volume[2]);
    const auto line = static_cast<std::uint64_t>(match.volume[2]);
    std::size_t row = 0;
    for (const std::int64_t z : match_reference::references(match, 0)) {
        for (const std::int64_t y : match_reference::references(match, 1)) {
            for (const std::int64_t x : match_reference::references(match, 2)) {
                for (std::int64_t i = 0; i < match.patch_voxels(); ++i) {
                    const std::int64_t px = i % match.patch[2];
                    const std::int64_t py = i / match.patch[2] % match.patch[1];
                    const std::int64_t pz = i / match.patch[2] / match.patch[1];
                    double weights = 0;
                    double values = 0;
                    for (std::size_t k = 0; k < static_cast<std::size_t>(lists.count[row]); ++k) {
                        const std::size_t at = row * static_cast<std::size_t>(match.count) + k;
                        const std::uint64_t index = lists.index[at];
                        const double over = std::max(
                            static_cast<double>(lists.distance[at]) - 2 * sigma * sigma, 0.0);
                        const double h = strength * sigma;
                        const double weight = over == 0 ? 1 : std::exp(-over / (h * h));
                        weights += weight;
                        values += weight *
                                  static_cast<double>(volume[match_reference::place(
                                      match, {static_cast<std::int64_t>(index / plane) + pz,
                                              static_cast<std::int64_t>(index % plane / line) + py,
                                              static_cast<std::int64_t>(index % line) + px})]);
                    }
                    const std::size_t to = match_reference::place(match, {z + pz, y + py, x + px});
                    sum[to] += values / weights;
                    ++estimates[to];
                }
                ++row;
            }
        }
    }
    for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] /= estimates[i];
    }
    return sum;
}

} // namespace runner::nlm_reference
