// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/dense/match_dense_shape.cuh"

#include <cstdint>
#include <limits>

namespace runner::match_cuda {

/// A line of voxels along x in a block's part of the volume.
struct TileLine {
    int y;
    int z = 0;

    __device__ TileLine(const DenseTile& tile, int number) : y(number) { wrap(tile); }
    __device__ void advance(const DenseTile& tile, int lines) {
        y += lines;
        wrap(tile);
    }
    __device__ void wrap(const DenseTile& tile) {
        while (y >= tile.voxels.high) {
            y -= tile.voxels.high;
            ++z;
        }
    }
};

/// Reads the block's part of the volume, which begins half a window before `at`; outside of the
/// buffer NaN, which belongs to no candidate: a key of a NaN is not less than any bound. A warp
/// reads four lines at once. Returns the exponent of the lowest bit that is set in any voxel, for
/// all threads.
__device__ inline int read_tile(const MatchCall& call, const DenseTile& tile,
                                const FirstReference& at, const float* volume, float* voxels) {
    constexpr int lines = 4;
    __shared__ int least;
    if (threadIdx.x == 0) {
        least = std::numeric_limits<int>::max();
    }
    __syncthreads();
    const float nothing = __uint_as_float(0x7FC00000U);
    const auto warps = static_cast<int>(blockDim.x / 32);
    int own = std::numeric_limits<int>::max();
    for (int in_x = static_cast<int>(threadIdx.x % 32); in_x < tile.voxels.wide; in_x += 32) {
        const std::int64_t x = at.x - call.half[2] + in_x;
        const bool there_x = x >= 0 && x < call.volume[2];
        TileLine line(tile, static_cast<int>(threadIdx.x / 32));
        while (line.z < tile.voxels.tall) {
            float values[lines];
            int to[lines];
#pragma unroll
            for (int i = 0; i < lines; ++i) {
                const std::int64_t y = at.y - call.half[1] + line.y;
                const std::int64_t z = at.z - call.half[0] - call.in_first + line.z;
                const bool there =
                    there_x && y >= 0 && y < call.volume[1] && z >= 0 && z < call.in_layers;
                values[i] =
                    there ? __ldg(volume + (z * call.volume[1] + y) * call.volume[2] + x) : nothing;
                to[i] = line.z < tile.voxels.tall ? tile.at(line.z, line.y, in_x) : -1;
                line.advance(tile, warps);
            }
#pragma unroll
            for (int i = 0; i < lines; ++i) {
                if (to[i] >= 0) {
                    voxels[to[i]] = values[i];
                    if (values[i] != 0 && !isnan(values[i])) {
                        own = min(own, lowest_bit(values[i]));
                    }
                }
            }
        }
    }
    atomicMin(&least, least_of_warp(own));
    __syncthreads();
    return least;
}

} // namespace runner::match_cuda
