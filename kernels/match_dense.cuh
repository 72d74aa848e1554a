// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match_device.cuh"

namespace runner::match_cuda {

/// How a block of threads is laid out: lanes of a warp along x, warps along y and up to so many
/// along z, and the references of a thread along y and z. The last px − 1 lanes only help with the
/// sums.
template <int warps_along_y, int most_warps_along_z, int each_along_y, int each_along_z>
struct DenseShape {
    static constexpr int warps_y = warps_along_y;
    static constexpr int most_warps_z = most_warps_along_z;
    static constexpr int each_y = each_along_y;
    static constexpr int each_z = each_along_z;
    static constexpr int each = each_y * each_z; ///< references of a thread
    static constexpr int most_threads = 32 * warps_y * most_warps_z;
    static constexpr int tile_y = warps_y * each_y;
    /// What a thread keeps of candidates that are not sorted in: distances, numbers in 16 bits.
    static constexpr int gathered_bytes = batch_keys * each * 6;
    static_assert(each <= 8 && batch_keys == 8, "counts are four bits of a word");
};

/// Long lists take registers of which more threads would have too few.
template <int slots> using VolumeShape = DenseShape<2, slots <= 16 ? 6 : 4, 4, 2>;
template <int slots> using ImageShape = DenseShape<8, 1, 8, 1>;

/// The part of the volume that the references of a block and their candidates cover.
template <class S> __host__ __device__ VoxelTile dense_tile(const MatchWork& work, int warps_z) {
    return {32 + static_cast<int>(2 * work.half[2]),
            S::tile_y + work.patch[1] - 1 + static_cast<int>(2 * work.half[1]),
            warps_z * S::each_z + work.patch[0] - 1 + static_cast<int>(2 * work.half[0])};
}

/// Step 1: for every place in the window the squared differences of a block's tile, their sums
/// along z and y in each thread, and along x between the lanes of a warp. Each thread keeps the
/// matches of `each` references: the last in registers, the lists in local memory, to which it
/// turns only when some thread of the warp has gathered as much as there is room for.
template <class S, int pz, int py, int px, int slots>
__global__ void __launch_bounds__(S::most_threads, 1)
    dense_kernel(MatchWork work, std::int64_t tiles_x, std::int64_t tiles_y,
                 std::int64_t first_block, const float* volume, MatchLists lists) {
    constexpr int lanes = 32 - (px - 1);
    extern __shared__ float dense_shared[];
    const auto threads = static_cast<int>(blockDim.x);
    const int warps_z = threads / 32 / S::warps_y;
    const VoxelTile tile = dense_tile<S>(work, warps_z);
    const int held_a_round = S::each * threads; // gathered: a place of each thread's references
    float* gathered = dense_shared;
    auto* numbers = reinterpret_cast<std::uint16_t*>(gathered + batch_keys * held_a_round);
    auto* voxels = reinterpret_cast<float*>(numbers + batch_keys * held_a_round);
    const auto thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32;
    const int in_y = thread / 32 % S::warps_y * S::each_y;
    const int in_z = thread / 32 / S::warps_y * S::each_z;
    const std::int64_t block = first_block + blockIdx.x;
    const std::int64_t tile_x = block % tiles_x * lanes;
    const std::int64_t tile_y = block / tiles_x % tiles_y * S::tile_y;
    // Among this call's references.
    const std::int64_t tile_z = block / tiles_x / tiles_y * (warps_z * S::each_z);
    const int half_z = static_cast<int>(work.half[0]);
    const int half_y = static_cast<int>(work.half[1]);
    const int half_x = static_cast<int>(work.half[2]);
    // What lies outside of the buffer belongs to no candidate: a sum with it is not a number, which
    // is less than nothing.
    read_voxels(work, tile, {work.first + tile_z, work.first_line + tile_y, tile_x},
                __uint_as_float(0x7FC00000U), volume, voxels);
    __syncthreads();

    const int row = tile.wide;
    const int layer = tile.wide * tile.high;
    const float* own = voxels + (in_z + half_z) * layer + (in_y + half_y) * row + lane + half_x;
    constexpr int rows = S::each_y + py - 1;
    constexpr int layers = S::each_z + pz - 1;
    float a[layers][rows];
#pragma unroll
    for (int z = 0; z < layers; ++z) {
#pragma unroll
        for (int y = 0; y < rows; ++y) {
            a[z][y] = own[z * layer + y * row];
        }
    }

    const std::int64_t x_at = tile_x + lane;
    const std::int64_t y_at = tile_y + in_y;
    float worst[S::each];
    std::uint32_t worst_number[S::each];
    int to[S::each]; // where the next candidate is gathered
    Key list[S::each][slots];
#pragma unroll
    for (int r = 0; r < S::each; ++r) {
        const bool mine = lane < lanes && x_at < work.grid[2] &&
                          y_at + r % S::each_y < work.grid[1] &&
                          tile_z + in_z + r / S::each_y < work.grid[0];
        worst[r] = mine ? work.most : -1.0F;
        worst_number[r] = 0xFFFFFFFFU;
        to[r] = r * threads + thread;
    }
#pragma unroll 1
    for (int r = 0; r < S::each; ++r) {
        for (int i = 0; i < slots; ++i) {
            list[r][i] = i < slots - work.count ? -1 : no_match;
        }
    }

    std::uint32_t held = 0; // four bits a reference
    const auto sort_in = [&](int room) {
#pragma unroll 1
        for (int r = 0; r < S::each; ++r) {
            const int n = static_cast<int>(held >> (4 * r) & 15U);
            if (!__any_sync(whole_warp, n >= room)) {
                continue;
            }
            Key batch[batch_keys];
#pragma unroll
            for (int j = 0; j < batch_keys; ++j) {
                const int from = j * held_a_round + r * threads + thread;
                batch[j] = j < n ? key_of(gathered[from], numbers[from]) : no_match;
            }
            sort_batch(batch);
            List<slots> sorted;
#pragma unroll
            for (int i = 0; i < slots; ++i) {
                sorted.keys[i] = list[r][i];
            }
            sorted.merge(batch);
#pragma unroll
            for (int i = 0; i < slots; ++i) {
                list[r][i] = sorted.keys[i];
            }
            held &= ~(15U << (4 * r));
            const Key last = sorted.last();
#pragma unroll
            for (int k = 0; k < S::each; ++k) {
                const bool full = k == r && last != no_match;
                worst[k] = full ? distance_of(last) : worst[k];
                worst_number[k] = full ? static_cast<std::uint32_t>(last) : worst_number[k];
                to[k] = k == r ? k * threads + thread : to[k];
            }
        }
    };

    for (int i = 0; i <= 2 * half_z; ++i) {
        const int dz = from_centre(i);
        for (int j = 0; j <= 2 * half_y; ++j) {
            const int dy = from_centre(j);
            const float* line = own + dz * layer + dy * row;
            const auto before = static_cast<std::uint32_t>(
                ((dz + half_z) * (2 * half_y + 1) + dy + half_y) * (2 * half_x + 1) + half_x);
            for (int k = 0; k <= 2 * half_x; ++k) {
                const int dx = from_centre(k);
                const float* b = line + dx;
                const std::uint32_t number = before + static_cast<std::uint32_t>(dx);
                float square[S::each_z][rows];
#pragma unroll
                for (int y = 0; y < rows; ++y) {
                    float e[layers];
#pragma unroll
                    for (int z = 0; z < layers; ++z) {
                        e[z] = __fsub_rn(a[z][y], b[z * layer + y * row]);
                    }
#pragma unroll
                    for (int z = 0; z < S::each_z; ++z) {
                        square[z][y] = __fmul_rn(e[z], e[z]);
#pragma unroll
                        for (int q = 1; q < pz; ++q) {
                            square[z][y] = __fmaf_rn(e[z + q], e[z + q], square[z][y]);
                        }
                    }
                }
#pragma unroll
                for (int r = 0; r < S::each; ++r) {
                    float sum_y = square[r / S::each_y][r % S::each_y];
#pragma unroll
                    for (int q = 1; q < py; ++q) {
                        sum_y = __fadd_rn(sum_y, square[r / S::each_y][r % S::each_y + q]);
                    }
                    float sum = sum_y;
#pragma unroll
                    for (int q = 1; q < px; ++q) {
                        sum = __fadd_rn(sum, __shfl_down_sync(whole_warp, sum_y, q));
                    }
                    if (sum < worst[r] || (sum == worst[r] && number < worst_number[r])) {
                        gathered[to[r]] = sum;
                        numbers[to[r]] = static_cast<std::uint16_t>(number);
                        to[r] += held_a_round;
                        held += 1U << (4 * r);
                    }
                }
                if (__any_sync(whole_warp, (held & 0x88888888U) != 0)) {
                    sort_in(batch_keys);
                }
            }
        }
    }
    sort_in(1);

#pragma unroll 1
    for (int r = 0; r < S::each; ++r) {
        const std::int64_t z = tile_z + in_z + r / S::each_y;
        const std::int64_t y = y_at + r % S::each_y;
        if (lane < lanes && x_at < work.grid[2] && y < work.grid[1] && z < work.grid[0]) {
            List<slots> sorted;
#pragma unroll
            for (int i = 0; i < slots; ++i) {
                sorted.keys[i] = list[r][i];
            }
            const std::int64_t at[3] = {work.first + z, work.first_line + y, x_at};
            put_list(work, sorted, (z * work.grid[1] + y) * work.grid[2] + x_at, at, lists);
        }
    }
}

} // namespace runner::match_cuda
