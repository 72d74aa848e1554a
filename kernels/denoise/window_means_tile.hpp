// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/window_means_call.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace runner {

/// Places [first, end) of the volume along z, y and x.
struct WindowBox {
    std::int64_t first[3];
    std::int64_t end[3];

    std::int64_t extent(int axis) const { return end[axis] - first[axis]; }
    std::int64_t voxels() const { return extent(0) * extent(1) * extent(2); }
    bool empty() const { return extent(0) <= 0 || extent(1) <= 0 || extent(2) <= 0; }
};

/// Most outputs of a tile along an axis.
inline constexpr std::int64_t window_tile[3] = {8, 16, 128};

/// A thread's memory, kept from tile to tile.
struct WindowTileMemory {
    std::vector<float> values; ///< Σ v·B, a row of its own a line of the tile
    std::vector<float> sums;   ///< Σ B
    std::vector<float> squares;
    std::vector<float> weights;
    std::vector<float> lines;
    std::vector<float> covered; ///< B
};

/// The means of a box of outputs, counted on the queue. `volume` and `out` begin with the layers
/// work.in and work.held.
void window_means_tile(const CpuQueue& queue, const WindowCall& call, const WindowBox& tile,
                       const float* volume, float* out, WindowTileMemory& memory);

} // namespace runner
