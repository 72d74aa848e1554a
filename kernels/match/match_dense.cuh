// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match_device.cuh"

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

/// Room in shared memory for candidates that are not yet sorted in: batch_keys places for each
/// reference of each thread, `stride` elements from one place to the next.
struct Gathered {
    float* distances;
    std::uint16_t* numbers;
    int stride;
};

/// What decides whether a candidate is gathered, in registers.
template <class S> struct DenseState {
    float worst[S::each]; ///< distance and number of each list's last match
    std::uint32_t worst_number[S::each];
    int to[S::each];        ///< where the next candidate is gathered
    std::uint32_t held = 0; ///< gathered candidates, four bits a reference

    __device__ std::uint32_t count(int r) const { return held >> (4 * r) & 15U; }
    /// Whether some reference has no room for another candidate.
    __device__ bool is_full() const { return (held & 0x88888888U) != 0; }

    __device__ void gather(int r, float sum, std::uint32_t number, const Gathered& gathered) {
        if (sum < worst[r] || (sum == worst[r] && number < worst_number[r])) {
            gathered.distances[to[r]] = sum;
            gathered.numbers[to[r]] = static_cast<std::uint16_t>(number);
            to[r] += gathered.stride;
            held += 1U << (4 * r);
        }
    }
};

/// Empty lists, which are in local memory.
template <class S, int px, int slots>
__device__ void begin_lists(const MatchWork& work, const DensePlace<S, px>& place,
                            DenseState<S>& state, Key (&lists)[S::each][slots]) {
#pragma unroll
    for (int r = 0; r < S::each; ++r) {
        state.worst[r] = place.has(work, r) ? work.most : -1.0F;
        state.worst_number[r] = 0xFFFFFFFFU;
        state.to[r] = r * place.threads + place.thread;
    }
#pragma unroll 1
    for (int r = 0; r < S::each; ++r) {
        for (int i = 0; i < slots; ++i) {
            lists[r][i] = i < slots - work.count ? -1 : no_match;
        }
    }
}

template <int slots> __device__ List<slots> load_list(const Key (&keys)[slots]) {
    List<slots> list;
#pragma unroll
    for (int i = 0; i < slots; ++i) {
        list.keys[i] = keys[i];
    }
    return list;
}

/// Sorts the gathered candidates into the lists of those references of which some thread of the
/// warp has gathered `room` candidates or more.
template <class S, int px, int slots>
__device__ void sort_in(int room, const DensePlace<S, px>& place, const Gathered& gathered,
                        DenseState<S>& state, Key (&lists)[S::each][slots]) {
#pragma unroll 1
    for (int r = 0; r < S::each; ++r) {
        const auto n = static_cast<int>(state.count(r));
        if (!__any_sync(whole_warp, n >= room)) {
            continue;
        }
        Key batch[batch_keys];
#pragma unroll
        for (int j = 0; j < batch_keys; ++j) {
            const int from = j * gathered.stride + r * place.threads + place.thread;
            batch[j] = j < n ? key_of(gathered.distances[from], gathered.numbers[from]) : no_match;
        }
        sort_batch(batch);
        List<slots> sorted = load_list(lists[r]);
        sorted.merge(batch);
#pragma unroll
        for (int i = 0; i < slots; ++i) {
            lists[r][i] = sorted.keys[i];
        }
        state.held &= ~(15U << (4 * r));
        const Key last = sorted.last();
#pragma unroll
        for (int k = 0; k < S::each; ++k) {
            const bool full = k == r && last != no_match;
            state.worst[k] = full ? distance_of(last) : state.worst[k];
            state.worst_number[k] = full ? static_cast<std::uint32_t>(last) : state.worst_number[k];
            state.to[k] = k == r ? k * place.threads + place.thread : state.to[k];
        }
    }
}

/// Squared differences of the thread's own voxels `a` and the candidate's from `b` on, summed along
/// z, by references along z and by lines.
template <class S, int pz, int rows, int layers>
__device__ void sum_squares(const float (&a)[layers][rows], const float* b, int layer, int row,
                            float (&sums)[S::each_z][rows]) {
#pragma unroll
    for (int y = 0; y < rows; ++y) {
        float e[layers];
#pragma unroll
        for (int z = 0; z < layers; ++z) {
            e[z] = __fsub_rn(a[z][y], b[z * layer + y * row]);
        }
#pragma unroll
        for (int z = 0; z < S::each_z; ++z) {
            sums[z][y] = __fmul_rn(e[z], e[z]);
#pragma unroll
            for (int q = 1; q < pz; ++q) {
                sums[z][y] = __fmaf_rn(e[z + q], e[z + q], sums[z][y]);
            }
        }
    }
}

/// The distance of the r-th reference: the sums along y in the thread, then along x between the
/// lanes of the warp.
template <class S, int py, int px, int rows>
__device__ float distance_sum(const float (&sums)[S::each_z][rows], int r) {
    float sum_y = sums[r / S::each_y][r % S::each_y];
#pragma unroll
    for (int q = 1; q < py; ++q) {
        sum_y = __fadd_rn(sum_y, sums[r / S::each_y][r % S::each_y + q]);
    }
    float sum = sum_y;
#pragma unroll
    for (int q = 1; q < px; ++q) {
        sum = __fadd_rn(sum, __shfl_down_sync(whole_warp, sum_y, q));
    }
    return sum;
}

/// Judges every candidate of the thread's references, whose first voxel is at `own`.
template <class S, int pz, int py, int px, int slots>
__device__ void search_window(const MatchWork& work, const DensePlace<S, px>& place,
                              const Gathered& gathered, const float* own, int layer, int row,
                              DenseState<S>& state, Key (&lists)[S::each][slots]) {
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
    const int half_z = static_cast<int>(work.half[0]);
    const int half_y = static_cast<int>(work.half[1]);
    const int half_x = static_cast<int>(work.half[2]);
    for (int i = 0; i <= 2 * half_z; ++i) {
        const int dz = from_centre(i);
        for (int j = 0; j <= 2 * half_y; ++j) {
            const int dy = from_centre(j);
            const float* line = own + dz * layer + dy * row;
            const auto before = static_cast<std::uint32_t>(
                ((dz + half_z) * (2 * half_y + 1) + dy + half_y) * (2 * half_x + 1) + half_x);
            for (int k = 0; k <= 2 * half_x; ++k) {
                const int dx = from_centre(k);
                const std::uint32_t number = before + static_cast<std::uint32_t>(dx);
                float sums[S::each_z][rows];
                sum_squares<S, pz>(a, line + dx, layer, row, sums);
#pragma unroll
                for (int r = 0; r < S::each; ++r) {
                    state.gather(r, distance_sum<S, py, px>(sums, r), number, gathered);
                }
                if (__any_sync(whole_warp, state.is_full())) {
                    sort_in(batch_keys, place, gathered, state, lists);
                }
            }
        }
    }
    sort_in(1, place, gathered, state, lists);
}

/// Step 1. Each thread keeps the matches of `each` references: the last one in registers, the lists
/// in local memory. It turns to the lists only when some thread of its warp has gathered as many
/// candidates as there is room for.
template <class S, int pz, int py, int px, int slots>
__global__ void __launch_bounds__(S::most_threads, 1)
    dense_kernel(MatchWork work, std::int64_t tiles_x, std::int64_t tiles_y,
                 std::int64_t first_block, const float* volume, MatchLists results) {
    extern __shared__ float dense_shared[];
    const DensePlace<S, px> place(tiles_x, tiles_y, first_block + blockIdx.x);
    const VoxelTile tile = dense_tile<S>(work, place.warps_z());
    const int stride = S::each * place.threads;
    auto* const numbers = reinterpret_cast<std::uint16_t*>(dense_shared + batch_keys * stride);
    const Gathered gathered{dense_shared, numbers, stride};
    auto* const voxels = reinterpret_cast<float*>(numbers + batch_keys * stride);
    // Voxels outside the buffer belong to no candidate. A sum with a NaN is not less than any
    // distance, so it is never gathered.
    read_voxels(work, tile,
                {work.first + place.tile_z, work.first_line + place.tile_y, place.tile_x},
                __uint_as_float(0x7FC00000U), volume, voxels);
    __syncthreads();

    const int row = tile.wide;
    const int layer = tile.wide * tile.high;
    const float* const own = voxels + (place.in_z + static_cast<int>(work.half[0])) * layer +
                             (place.in_y + static_cast<int>(work.half[1])) * row + place.lane +
                             static_cast<int>(work.half[2]);
    DenseState<S> state;
    Key lists[S::each][slots];
    begin_lists(work, place, state, lists);
    search_window<S, pz, py>(work, place, gathered, own, layer, row, state, lists);
#pragma unroll 1
    for (int r = 0; r < S::each; ++r) {
        if (place.has(work, r)) {
            const std::int64_t at[3] = {work.first + place.z(r), work.first_line + place.y(r),
                                        place.x()};
            const std::int64_t index =
                (place.z(r) * work.grid[1] + place.y(r)) * work.grid[2] + place.x();
            put_list(work, load_list(lists[r]), index, at, results);
        }
    }
}

} // namespace runner::match_cuda
