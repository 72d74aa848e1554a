// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/noise_level.hpp"

#include <cstdint>

namespace runner {

/// The cubes of one call of count_haar(), for both backends. Extents are z, y, x.
struct HaarCubes {
    std::int64_t volume[3];
    std::int64_t count[3]; ///< of cubes; along z of this call
    std::int64_t side[3];  ///< 2, or 1 along an axis of one voxel
    std::int64_t first;    ///< the first cube's layer in the buffer
    float scale;

    constexpr std::int64_t all() const { return count[0] * count[1] * count[2]; }

    /// The coefficient of cube `i`.
    constexpr float coefficient(const float* in, std::int64_t i) const {
        const std::int64_t row = volume[2];
        const std::int64_t layer = volume[1] * row;
        const float* at = corner(in, i);
        const float low = difference_y(at, row);
        return (side[0] == 2 ? low - difference_y(at + layer, row) : low) * scale;
    }

    /// Whether all voxels of cube `i` are equal, which says nothing of the noise.
    constexpr bool is_constant(const float* in, std::int64_t i) const {
        const float* at = corner(in, i);
        for (std::int64_t z = 0; z < side[0]; ++z) {
            for (std::int64_t y = 0; y < side[1]; ++y) {
                const float* line = at + (z * volume[1] + y) * volume[2];
                if (line[0] != at[0] || line[side[2] - 1] != at[0]) {
                    return false;
                }
            }
        }
        return true;
    }

  private:
    constexpr const float* corner(const float* in, std::int64_t i) const {
        const std::int64_t row = volume[2];
        return in + (first + i / count[2] / count[1] * side[0]) * volume[1] * row +
               i / count[2] % count[1] * side[1] * row + i % count[2] * side[2];
    }
    constexpr float difference_x(const float* at) const {
        return side[2] == 2 ? at[0] - at[1] : at[0];
    }
    constexpr float difference_y(const float* at, std::int64_t row) const {
        const float low = difference_x(at);
        return side[1] == 2 ? low - difference_x(at + row) : low;
    }
};

HaarCubes make_haar_cubes(const std::array<std::int64_t, 3>& volume, const HaarLayers& layers);

} // namespace runner
