// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match_device.cuh"
#include "kernels/match/match_short_list.cuh"
#include "kernels/queue/divisor.cuh"

#include <algorithm>
#include <cstdint>

namespace runner::match_cuda {

/// How a block of threads is laid out: lanes of a warp along x, warps along y and up to so many
/// along z, and the references of a thread along y and z. The last px − 1 lanes only help with the
/// sums.
template <int slots, int warps_along_y, int most_warps_along_z, int each_along_y, int each_along_z>
struct DenseShape {
    static constexpr int warps_y = warps_along_y;
    static constexpr int most_warps_z = most_warps_along_z;
    static constexpr int each_y = each_along_y;
    static constexpr int each_z = each_along_z;
    static constexpr int each = each_y * each_z; ///< references of a thread
    static constexpr int most_threads = 32 * warps_y * most_warps_z;
    static constexpr int tile_y = warps_y * each_y;
    /// A thread's words in shared memory: for candidates that are not sorted in, and at the end for
    /// the matches of one reference, two words each.
    static constexpr int room_words = std::max(batch_keys * each, 2 * slots);
};

/// Long lists and large patches take registers of which more threads would have too few.
template <int slots, int patch>
using VolumeShape =
    DenseShape<slots, 2, slots <= 16 && patch <= 3 ? 8 : (slots <= 32 ? 6 : 4), 4, 2>;
template <int slots> using ImageShape = DenseShape<slots, 8, 1, 8, 1>;

/// The part of the volume that the references of a block and their candidates cover, in shared
/// memory with y fastest, then z: a thread reads voxels of a line at constant distances. The pitch
/// along x, which is that from lane to lane, is odd, so that their voxels lie in different banks.
struct DenseTile {
    VoxelTile voxels;
    int layer; ///< from one z to the next
    int pitch; ///< from one x to the next

    template <class S> __host__ __device__ static DenseTile of(const MatchWork& work, int warps_z) {
        const int high = S::tile_y + work.patch[1] - 1 + static_cast<int>(2 * work.half[1]);
        const int tall =
            warps_z * S::each_z + work.patch[0] - 1 + static_cast<int>(2 * work.half[0]);
        return {{32 + static_cast<int>(2 * work.half[2]), high, tall}, high, high * tall | 1};
    }
    /// Search reads ahead: up to a step along z past the last voxel, or along x in an image.
    template <class S> __host__ __device__ int floats() const {
        return pitch * voxels.wide + (S::each_z > 1 ? layer : pitch);
    }
    __host__ __device__ int at(int z, int y, int x) const { return x * pitch + z * layer + y; }
};

/// Where a thread and its block are.
template <class S, int px> struct DensePlace {
    static constexpr int lanes = 32 - (px - 1); ///< of a warp, that have references

    __device__ DensePlace(std::int64_t tiles_x, std::int64_t tiles_y, std::int64_t block)
        : threads(static_cast<int>(blockDim.x)), thread(static_cast<int>(threadIdx.x)),
          lane(thread % 32), in_y(thread / 32 % S::warps_y * S::each_y),
          in_z(thread / 32 / S::warps_y * S::each_z), tile_x(block % tiles_x * lanes),
          tile_y(block / tiles_x % tiles_y * S::tile_y),
          tile_z(block / tiles_x / tiles_y * (warps_z() * S::each_z)) {}

    __device__ int warps_z() const { return threads / 32 / S::warps_y; }
    /// Whether the thread has an r-th reference.
    __device__ bool has(const MatchWork& work, int r) const {
        return lane < lanes && x() < work.grid[2] && y(r) < work.grid[1] && z(r) < work.grid[0];
    }
    __device__ std::int64_t x() const { return tile_x + lane; }
    __device__ std::int64_t y(int r) const { return tile_y + in_y + r % S::each_y; }
    /// Counted from the call's first layer of references.
    __device__ std::int64_t z(int r) const { return tile_z + in_z + r / S::each_y; }

    int threads; ///< of the block
    int thread;
    int lane;
    int in_y; ///< the thread's first reference, in the block's tile
    int in_z;
    std::int64_t tile_x;
    std::int64_t tile_y;
    std::int64_t tile_z;
};

/// What all threads of a block know.
struct DenseCall {
    ShortKeys keys;
    ShortKey exact; ///< shorter keys hold all of D (exact_below())
    Divisor wide;   ///< candidates in a line and in a layer of the window
    Divisor layer;
    ShortKey beyond; ///< keys from this on are farther than the threshold

    /// The least key that is no match, once `last` is the last of a reference's list: candidates
    /// with the distance of `last` are looked at again when there may be more of D to compare.
    __device__ ShortKey bound_of(ShortKey last) const {
        if (last == no_short_match) {
            return beyond;
        }
        return last < exact ? last : (last | keys.numbers) + 1;
    }
};

} // namespace runner::match_cuda
