// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/window_march/window_march_shape.cuh"
#include "kernels/denoise/window_means_call.hpp"

#include <cstdint>

namespace runner::window_march {

/// Where a block's first reference and voxel lie.
struct Corner {
    int z;
    int y;
    int x;
};

/// Whether every reference of the block has a candidate at every offset, and no row or column of
/// the volume begins or ends in it.
__device__ inline bool is_inside(const WindowCall& call, const Corner& corner) {
    const int low[3] = {corner.z, corner.y, corner.x};
    const int many[3] = {references, rows - patch + 1, lanes - patch + 1};
    bool inside = corner.y > 0 && corner.x > 0 && corner.y + rows < call.volume[1] &&
                  corner.x + lanes < call.volume[2];
    for (int i = 0; i < 3; ++i) {
        inside = inside && low[i] >= call.half[i] &&
                 low[i] + many[i] - 1 + call.half[i] <= call.corner[i];
    }
    return inside;
}

/// Whether the block has all references that cover a place of an axis. The volume's first and last
/// places have fewer.
__device__ inline bool is_whole(int at, int in_block, int block, std::int64_t volume) {
    return at < volume && (in_block >= patch - 1 || at == in_block) &&
           (in_block <= block - patch || at - in_block + block >= volume);
}

/// The layers of the volume that are held. Places outside them become their nearest: their weights
/// are 0.
class MarchVolume {
  public:
    __device__ MarchVolume(const WindowCall& call, const float* volume)
        : call_(call), volume_(volume), layer_(call.volume[1] * call.volume[2]) {}

    __device__ std::int64_t layer() const { return layer_; }
    __device__ const float* column(int y, int x) const {
        return volume_ + clamped(y, 0, static_cast<int>(call_.volume[1])) * call_.volume[2] +
               clamped(x, 0, static_cast<int>(call_.volume[2]));
    }
    /// Where a layer of a column lies.
    __device__ std::int64_t layer_at(int z) const {
        const auto first = static_cast<int>(call_.in.first);
        const auto end = static_cast<int>(call_.in.first + call_.in.layers);
        return (clamped(z, first, end) - first) * layer_;
    }

  private:
    static __device__ int clamped(int at, int first, int end) {
        return min(max(at, first), end - 1);
    }

    const WindowCall& call_;
    const float* volume_;
    std::int64_t layer_;
};

} // namespace runner::window_march
