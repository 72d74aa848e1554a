// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/window_means.hpp"
#include "tests/reference/match_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace runner::window_means_reference {

/// Places of the corners of a volume's patches.
template <class Visit> void each_corner(const Match& match, const Visit& visit) {
    for (std::int64_t z = 0; z <= match.volume[0] - match.patch[0]; ++z) {
        for (std::int64_t y = 0; y <= match.volume[1] - match.patch[1]; ++y) {
            for (std::int64_t x = 0; x <= match.volume[2] - match.patch[2]; ++x) {
                visit(std::array<std::int64_t, 3>{z, y, x});
            }
        }
    }
}

/// In float64, pair of patches by pair of patches: each adds its weight times the candidate's
/// voxels to the reference's.
inline std::vector<double> denoise(const Match& match, double sigma, double strength,
                                   const std::vector<float>& volume) {
    std::vector<double> values(volume.size());
    std::vector<double> weights(volume.size());
    using Place = std::array<std::int64_t, 3>;
    const double h = strength * sigma;
    each_corner(match, [&](const Place& r) {
        each_corner(match, [&](const Place& c) {
            for (std::size_t i = 0; i < 3; ++i) {
                if (std::abs(r.at(i) - c.at(i)) > match.window.at(i) / 2) {
                    return;
                }
            }
            const auto each_voxel = [&](const auto& visit) {
                for (std::int64_t i = 0; i < match.patch_voxels(); ++i) {
                    const std::int64_t z = i / match.patch[2] / match.patch[1];
                    const std::int64_t y = i / match.patch[2] % match.patch[1];
                    const std::int64_t x = i % match.patch[2];
                    visit(match_reference::place(match, {r[0] + z, r[1] + y, r[2] + x}),
                          match_reference::place(match, {c[0] + z, c[1] + y, c[2] + x}));
                }
            };
            double sum = 0;
            each_voxel([&](std::size_t a, std::size_t b) {
                const double e = static_cast<double>(volume[a]) - static_cast<double>(volume[b]);
                sum += e * e;
            });
            const double over = sum / static_cast<double>(match.patch_voxels()) - 2 * sigma * sigma;
            const double weight = over <= 0 ? 1 : (h * h > 0 ? std::exp(-over / (h * h)) : 0);
            each_voxel([&](std::size_t a, std::size_t b) {
                values[a] += weight * static_cast<double>(volume[b]);
                weights[a] += weight;
            });
        });
    });
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] /= weights[i];
    }
    return values;
}

} // namespace runner::window_means_reference
