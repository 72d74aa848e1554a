// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match_device.cuh"
#include "kernels/match/match_short_list.cuh"
#include "kernels/queue/divisor.hpp"

#include <algorithm>
#include <cstdint>

namespace runner::match_cuda {

/// How a block of threads is laid out: lanes of a warp along x, warps along y and up to so many
/// along z, and the references of a thread along y and z. The last px − 1 lanes only help with the
/// sums. A narrow block's warps have two rows of 16 lanes, of which the second's references lie a
/// tile further along y: it takes the ends of lines that need no more lanes.
template <int slots, int warps_along_y, int most_warps_along_z, int each_along_y, int each_along_z,
          int voxel_registers = 24>
struct DenseShape {
    static constexpr int warps_y = warps_along_y;
    static constexpr int most_warps_z = most_warps_along_z;
    static constexpr int each_y = each_along_y;
    static constexpr int each_z = each_along_z;
    static constexpr int each = each_y * each_z; ///< references of a thread
    static constexpr int most_threads = 32 * warps_y * most_warps_z;
    static constexpr int tile_y = warps_y * each_y;
    /// The registers of a thread, for voxels of candidates.
    static constexpr int registers = voxel_registers;
    /// A thread's words in shared memory: for candidates that are not sorted in, and at the end for
    /// the matches of one reference, two words each.
    static constexpr int room_words = std::max(batch_keys * each, 2 * slots);
};

/// Long lists and large patches take registers of which more threads would have too few.
template <int slots, int patch>
using VolumeShape = DenseShape<slots, 2, slots <= 16 && patch <= 3 ? 8 : (slots <= 32 ? 6 : 4), 4,
                               2, patch <= 3 ? 24 : (slots <= 8 ? 48 : 32)>;
template <int slots> using ImageShape = DenseShape<slots, 8, 1, 8, 1>;

/// The part of the volume that the references of a block and their candidates cover, in shared
/// memory with y fastest, then z: a thread reads voxels of a line at constant distances. The pitch
/// along x, which is that from lane to lane, is odd, so that their voxels lie in different banks.
struct DenseTile {
    VoxelTile voxels;
    int layer; ///< from one z to the next
    int pitch; ///< from one x to the next

    /// The shape of a block whose rows of lanes are so wide.
    template <class S>
    __host__ __device__ static DenseTile of(const MatchCall& call, int warps_z, int wide) {
        const int high =
            32 / wide * S::tile_y + call.patch[1] - 1 + static_cast<int>(2 * call.half[1]);
        const int tall =
            warps_z * S::each_z + call.patch[0] - 1 + static_cast<int>(2 * call.half[0]);
        return {{wide + static_cast<int>(2 * call.half[2]), high, tall}, high, high * tall | 1};
    }
    /// Search reads ahead: up to a step along z past the last voxel, or along x in an image.
    template <class S> __host__ __device__ int floats() const {
        return pitch * voxels.wide + (S::each_z > 1 ? layer : pitch);
    }
    __host__ __device__ int at(int z, int y, int x) const { return x * pitch + z * layer + y; }
};

/// The blocks of a call along each axis: first those of warps 32 lanes wide, then the narrow ones.
struct DenseTiles {
    std::int64_t x;
    std::int64_t y;
    std::int64_t z;
    std::int64_t narrow_y; ///< 0 where there are no narrow ones

    __host__ __device__ std::int64_t wide_blocks() const { return x * y * z; }
    __host__ __device__ std::int64_t blocks() const { return wide_blocks() + narrow_y * z; }
};

/// Where a thread and its block are.
template <class S, int px> struct DensePlace {
    static constexpr int idle = px - 1; ///< lanes of a row that have no references

    __device__ DensePlace(const DenseTiles& tiles, std::int64_t block, unsigned number)
        : threads(static_cast<int>(blockDim.x)), thread(static_cast<int>(number)),
          lane(thread % 32), wide(block < tiles.wide_blocks() ? 32 : 16), row(lane / wide),
          in_x(lane % wide), in_y(row * S::tile_y + thread / 32 % S::warps_y * S::each_y),
          in_z(thread / 32 / S::warps_y * S::each_z) {
        const bool narrow = wide < 32;
        const std::int64_t in_grid = narrow ? block - tiles.wide_blocks() : block;
        const std::int64_t along_x = narrow ? 1 : tiles.x;
        const std::int64_t along_y = narrow ? tiles.narrow_y : tiles.y;
        tile_x = (narrow ? tiles.x : in_grid % along_x) * (32 - idle);
        tile_y = in_grid / along_x % along_y * (32 / wide * S::tile_y);
        tile_z = in_grid / along_x / along_y * (warps_z() * S::each_z);
    }

    __device__ int warps_z() const { return threads / 32 / S::warps_y; }
    /// Whether the thread has an r-th reference.
    __device__ bool has(const MatchCall& call, int r) const {
        return in_x < wide - idle && x() < call.grid[2] && y(r) < call.grid[1] &&
               z(r) < call.grid[0];
    }
    __device__ std::int64_t x() const { return tile_x + in_x; }
    __device__ std::int64_t y(int r) const { return tile_y + in_y + r % S::each_y; }
    /// Counted from the call's first layer of references.
    __device__ std::int64_t z(int r) const { return tile_z + in_z + r / S::each_y; }
    /// Lines and places along x from the thread's references to those of another lane.
    __device__ int lines_to(int other) const { return (other / wide - row) * S::tile_y; }
    __device__ int places_to(int other) const { return other % wide - in_x; }

    int threads; ///< of the block
    int thread;
    int lane;
    int wide; ///< lanes of a row
    int row;
    int in_x; ///< the thread's first reference, in the block's tile
    int in_y;
    int in_z;
    std::int64_t tile_x;
    std::int64_t tile_y;
    std::int64_t tile_z;
};

/// What all threads of a block know.
struct DenseSearch {
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
