// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match_call.hpp"
#include "kernels/queue/cuda_queue.hpp"

#include <cstdint>

namespace runner::match_cuda {

using Key = long long; ///< as match_call.hpp says

inline constexpr unsigned whole_warp = 0xFFFFFFFFU;

/// The least value of the warp's lanes, and the bits that some lane has, for all lanes. GPUs before
/// compute capability 8.0 have no instruction for it.
__device__ inline int least_of_warp(int value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(whole_warp, value);
#else
    for (int apart = 16; apart > 0; apart /= 2) {
        value = min(value, __shfl_xor_sync(whole_warp, value, apart));
    }
    return value;
#endif
}
__device__ inline std::uint32_t bits_of_warp(std::uint32_t bits) {
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(whole_warp, bits);
#else
    for (int apart = 16; apart > 0; apart /= 2) {
        bits |= __shfl_xor_sync(whole_warp, bits, apart);
    }
    return bits;
#endif
}

__device__ inline Key key_of(float distance, std::uint32_t number) {
    return static_cast<Key>(__float_as_uint(distance)) << 32 | number;
}

__device__ inline float distance_of(Key key) {
    return __uint_as_float(static_cast<std::uint32_t>(key >> 32));
}

/// The work of all references of `work`: their voxels are read and their lists written, once.
inline KernelWork match_kernel_work(const MatchCall& call, double operations) {
    const auto voxels = static_cast<double>(call.in_layers * call.volume[1] * call.volume[2]);
    const double list = call.count * (sizeof(std::uint64_t) + sizeof(float)) + sizeof(std::int32_t);
    return {voxels * sizeof(float) + static_cast<double>(call.rows()) * list, operations};
}

/// A part of the volume in shared memory.
struct VoxelTile {
    int wide;
    int high;
    int tall;

    __host__ __device__ int floats() const { return wide * high * tall; }
};

/// The corner of a block's first reference in the volume.
struct FirstReference {
    std::int64_t z;
    std::int64_t y;
    std::int64_t x;
};

/// The voxels of the tile that begins half a window before `at`; outside of the buffer `nothing`.
/// Voxel (z, y, x) of the tile is put in place `place(z, y, x)`.
template <class Place>
__device__ inline void read_voxels(const MatchCall& call, const VoxelTile& tile,
                                   const FirstReference& at, float nothing, const float* volume,
                                   float* voxels, const Place& place) {
    for (int i = static_cast<int>(threadIdx.x); i < tile.floats();
         i += static_cast<int>(blockDim.x)) {
        const int in_x = i % tile.wide;
        const int in_y = i / tile.wide % tile.high;
        const int in_z = i / tile.wide / tile.high;
        const std::int64_t x = at.x - call.half[2] + in_x;
        const std::int64_t y = at.y - call.half[1] + in_y;
        const std::int64_t z = at.z - call.half[0] + in_z - call.in_first;
        const bool there = x >= 0 && x < call.volume[2] && y >= 0 && y < call.volume[1] && z >= 0 &&
                           z < call.in_layers;
        voxels[place(in_z, in_y, in_x)] =
            there ? __ldg(volume + (z * call.volume[1] + y) * call.volume[2] + x) : nothing;
    }
}

/// The same with x fastest.
__device__ inline void read_voxels(const MatchCall& call, const VoxelTile& tile,
                                   const FirstReference& at, float nothing, const float* volume,
                                   float* voxels) {
    read_voxels(call, tile, at, nothing, volume, voxels,
                [&](int z, int y, int x) { return (z * tile.high + y) * tile.wide + x; });
}

/// 0, −1, 1, −2, 2 …: near candidates are likely to be good ones, and good ones early save work.
__device__ inline int from_centre(int i) { return i % 2 == 0 ? i / 2 : -(i + 1) / 2; }

__device__ inline void exchange(Key& low, Key& high) {
    const bool turned = high < low;
    const Key least = turned ? high : low;
    high = turned ? low : high;
    low = least;
}

/// Writes one slot of a row; `found` of the row's matches are there.
__device__ inline void put_match(const MatchCall& call, Key key, int i, int found, std::int64_t row,
                                 const std::int64_t (&at)[3], const MatchLists& lists) {
    const bool turned = call.order == MatchOrder::nearest_last && i < found;
    const std::int64_t to = row * call.count + (turned ? found - 1 - i : i);
    if (i >= found) {
        lists.index[to] = ~std::uint64_t{0};
        lists.distance[to] = __uint_as_float(0x7F800000U);
        return;
    }
    const auto number = static_cast<std::uint32_t>(key);
    const auto wide = static_cast<std::uint32_t>(call.window(2));
    const auto high = static_cast<std::uint32_t>(call.window(1));
    const std::int64_t dx = static_cast<std::int64_t>(number % wide) - call.half[2];
    const std::int64_t dy = static_cast<std::int64_t>(number / wide % high) - call.half[1];
    const std::int64_t dz = static_cast<std::int64_t>(number / wide / high) - call.half[0];
    lists.index[to] = static_cast<std::uint64_t>(call.index(at[0] + dz, at[1] + dy, at[2] + dx));
    lists.distance[to] = __fdiv_rn(distance_of(key), call.patch_voxels);
}

/// D of the patches at two places of the buffer, in the order of match.hpp.
__device__ inline float sum_of_squares(const MatchCall& call, const float* a, const float* b) {
    const std::int64_t row = call.volume[2];
    const std::int64_t layer = call.volume[1] * row;
    float sum = 0;
    for (int x = 0; x < call.patch[2]; ++x) {
        float line = 0;
        for (int y = 0; y < call.patch[1]; ++y) {
            std::int64_t at = y * row + x;
            float e = __fsub_rn(__ldg(a + at), __ldg(b + at));
            float square = __fmul_rn(e, e);
            for (int z = 1; z < call.patch[0]; ++z) {
                at += layer;
                e = __fsub_rn(__ldg(a + at), __ldg(b + at));
                square = __fmaf_rn(e, e, square);
            }
            line = y == 0 ? square : __fadd_rn(line, square);
        }
        sum = x == 0 ? line : __fadd_rn(sum, line);
    }
    return sum;
}

} // namespace runner::match_cuda
