// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match_device.cuh"

namespace runner::match_cuda {

/// How a block of threads is laid out: lanes of a warp along x, warps along y and z, and the
/// references of a thread along y and z. The last px − 1 lanes only help with the sums.
template <int warps_along_y, int warps_along_z, int each_along_y, int each_along_z>
struct DenseShape {
    static constexpr int warps_y = warps_along_y;
    static constexpr int warps_z = warps_along_z;
    static constexpr int each_y = each_along_y;
    static constexpr int each_z = each_along_z;
    static constexpr int each = each_y * each_z; ///< references of a thread
    static constexpr int threads = 32 * warps_y * warps_z;
    static constexpr int gathered = 8; ///< candidates a reference gathers before they are sorted in
    static constexpr int tile_y = warps_y * each_y;
    static constexpr int tile_z = warps_z * each_z;
    static constexpr int gathered_bytes = gathered * each * threads * 6;
    static_assert(each <= 8 && gathered == 8, "counts are four bits of a word");
};

using VolumeShape = DenseShape<2, 4, 4, 2>;
using ImageShape = DenseShape<8, 1, 8, 1>;

/// The part of the volume that the references of a block and their candidates cover.
struct DenseTile {
    int wide;
    int high;
    int tall;

    template <class S> __host__ __device__ static constexpr DenseTile of(const MatchWork& work) {
        return {32 + static_cast<int>(2 * work.half[2]),
                S::tile_y + work.patch[1] - 1 + static_cast<int>(2 * work.half[1]),
                S::tile_z + work.patch[0] - 1 + static_cast<int>(2 * work.half[0])};
    }
    __host__ __device__ constexpr int floats() const { return wide * high * tall; }
};

/// Step 1: for every place in the window the squared differences of a block's tile, their sums
/// along z and y in each thread, and along x between the lanes of a warp. Each thread keeps the
/// matches of `each` references: the last in registers, the lists in local memory, to which it
/// turns only when some thread of the warp has gathered as much as there is room for.
template <class S, int pz, int py, int px, int slots>
__global__ void __launch_bounds__(S::threads, 1)
    dense_kernel(MatchWork work, std::int64_t tiles_x, std::int64_t tiles_y,
                 std::int64_t first_block, const float* volume, MatchLists lists) {
    constexpr int lanes = 32 - (px - 1);
    extern __shared__ float dense_shared[];
    const DenseTile tile = DenseTile::of<S>(work);
    float* voxels = dense_shared;
    float* gathered = dense_shared + tile.floats();
    auto* numbers = reinterpret_cast<std::uint16_t*>(gathered + S::gathered * S::each * S::threads);
    const auto thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32;
    const int in_y = thread / 32 % S::warps_y * S::each_y;
    const int in_z = thread / 32 / S::warps_y * S::each_z;
    const std::int64_t block = first_block + blockIdx.x;
    const std::int64_t tile_x = block % tiles_x * lanes;
    const std::int64_t tile_y = block / tiles_x % tiles_y * S::tile_y;
    const std::int64_t tile_z = block / tiles_x / tiles_y * S::tile_z; // of this call's references
    const int half_z = static_cast<int>(work.half[0]);
    const int half_y = static_cast<int>(work.half[1]);
    const int half_x = static_cast<int>(work.half[2]);

    // What lies outside of the buffer belongs to no candidate.
    for (int i = thread; i < tile.floats(); i += S::threads) {
        const std::int64_t x = tile_x - half_x + i % tile.wide;
        const std::int64_t y = tile_y - half_y + i / tile.wide % tile.high;
        const std::int64_t z =
            work.first + tile_z - half_z + i / tile.wide / tile.high - work.in_first;
        const bool there = x >= 0 && x < work.volume[2] && y >= 0 && y < work.volume[1] && z >= 0 &&
                           z < work.in_layers;
        voxels[i] = there ? __ldg(volume + (z * work.volume[1] + y) * work.volume[2] + x) : 0.0F;
    }
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
    const std::int64_t z_at = work.first + tile_z + in_z;
    float worst[S::each];
    std::uint32_t worst_number[S::each];
    Key list[S::each][slots];
#pragma unroll
    for (int r = 0; r < S::each; ++r) {
        const bool mine = lane < lanes && x_at < work.grid[2] &&
                          y_at + r % S::each_y < work.grid[1] &&
                          tile_z + in_z + r / S::each_y < work.grid[0];
        worst[r] = mine ? work.most : -1.0F;
        worst_number[r] = 0xFFFFFFFFU;
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
            List<slots> sorted;
#pragma unroll
            for (int i = 0; i < slots; ++i) {
                sorted.keys[i] = list[r][i];
            }
            for (int j = 0; __any_sync(whole_warp, j < n); ++j) {
                const int from = (j * S::each + r) * S::threads + thread;
                sorted.insert(j < n ? key_of(gathered[from], numbers[from]) : no_match);
            }
#pragma unroll
            for (int i = 0; i < slots; ++i) {
                list[r][i] = sorted.keys[i];
            }
            held &= ~(15U << (4 * r));
            if (const Key last = sorted.last(); last != no_match) {
#pragma unroll
                for (int k = 0; k < S::each; ++k) {
                    worst[k] = k == r ? distance_of(last) : worst[k];
                    worst_number[k] = k == r ? static_cast<std::uint32_t>(last) : worst_number[k];
                }
            }
        }
    };

    for (int i = 0; i <= 2 * half_z; ++i) {
        const int dz = from_centre(i);
        for (int j = 0; j <= 2 * half_y; ++j) {
            const int dy = from_centre(j);
            std::uint32_t there_zy = 0;
#pragma unroll
            for (int r = 0; r < S::each; ++r) {
                const std::int64_t z = z_at + r / S::each_y + dz;
                const std::int64_t y = y_at + r % S::each_y + dy;
                there_zy |=
                    (z >= 0 && z <= work.corner[0] && y >= 0 && y <= work.corner[1] ? 1U : 0U) << r;
            }
            if (!__any_sync(whole_warp, there_zy != 0)) {
                continue;
            }
            const float* line = own + dz * layer + dy * row;
            const auto before = static_cast<std::uint32_t>(
                ((dz + half_z) * (2 * half_y + 1) + dy + half_y) * (2 * half_x + 1) + half_x);
            for (int k = 0; k <= 2 * half_x; ++k) {
                const int dx = from_centre(k);
                const float* b = line + dx;
                const std::uint32_t number = before + static_cast<std::uint32_t>(dx);
                const std::uint32_t there =
                    x_at + dx >= 0 && x_at + dx <= work.corner[2] ? there_zy : 0U;
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
                    if (sum <= worst[r] && (there >> r & 1U) != 0 &&
                        (sum < worst[r] || number < worst_number[r])) {
                        const int n = static_cast<int>(held >> (4 * r) & 15U);
                        const int to = (n * S::each + r) * S::threads + thread;
                        gathered[to] = sum;
                        numbers[to] = static_cast<std::uint16_t>(number);
                        held += 1U << (4 * r);
                    }
                }
                if (__any_sync(whole_warp, (held & 0x88888888U) != 0)) {
                    sort_in(S::gathered);
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
            const std::int64_t at[3] = {work.first + z, y, x_at};
            put_list(work, sorted, (z * work.grid[1] + y) * work.grid[2] + x_at, at, lists);
        }
    }
}

} // namespace runner::match_cuda
