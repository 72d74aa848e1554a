// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match_dense_result.cuh"
#include "kernels/match/match_dense_shape.cuh"

#include <cstdint>
#include <limits>

namespace runner::match_cuda {

/// Room in shared memory for candidates that are not yet sorted in: batch_keys places for each
/// reference of each thread, `stride` bytes from one place to the next.
struct Gathered {
    unsigned char* keys;
    int stride;

    __device__ ShortKey& at(int place) const { return *reinterpret_cast<ShortKey*>(keys + place); }
};

/// The highest bit of each count of gathered candidates: of those that are batch_keys.
inline constexpr std::uint32_t eighths = 0x88888888U;

/// What decides whether a candidate is gathered, in registers.
template <class S> struct DenseState {
    ShortKey bound[S::each]; ///< candidates from this on are no matches
    int to[S::each];         ///< where the next candidate is gathered
    std::uint32_t held = 0;  ///< gathered candidates, four bits a reference

    __device__ std::uint32_t count(int r) const { return held >> (4 * r) & 15U; }
    /// Whether some reference has no room for another candidate.
    __device__ bool is_full() const { return (held & eighths) != 0; }

    __device__ void gather(int r, ShortKey key, const Gathered& gathered) {
        if (key < bound[r]) {
            gathered.at(to[r]) = key;
            to[r] += gathered.stride;
            held += 1U << (4 * r);
        }
    }
};

/// Empty lists, which are in local memory.
template <class S, int px, int slots>
__device__ void begin_lists(const MatchWork& work, const DenseCall& call,
                            const DensePlace<S, px>& place, DenseState<S>& state,
                            ShortList<slots> (&lists)[S::each]) {
    const ShortKey most = call.keys.key(__float_as_uint(work.most), call.keys.numbers);
#pragma unroll
    for (int r = 0; r < S::each; ++r) {
        state.bound[r] = place.has(work, r) ? most + 1 : 0;
        state.to[r] = place.gathered(r);
    }
#pragma unroll 1
    for (int r = 0; r < S::each; ++r) {
        lists[r].clear(work.count);
    }
}

/// Sorts the gathered candidates into the lists of those references of which some thread of the
/// warp has set the highest of four bits in `wanted`.
template <class S, int px, int slots>
__device__ void sort_in(std::uint32_t wanted, const DenseCall& call, const DensePlace<S, px>& place,
                        const Gathered& gathered, DenseState<S>& state,
                        ShortList<slots> (&lists)[S::each]) {
    std::uint32_t left = __reduce_or_sync(whole_warp, wanted & eighths);
#pragma unroll 1
    for (; left != 0; left &= left - 1) {
        const int r = (__ffs(static_cast<int>(left)) - 1) / 4;
        const auto n = static_cast<int>(state.count(r));
        ShortKey batch[batch_keys];
#pragma unroll
        for (int j = 0; j < batch_keys; ++j) {
            const ShortKey key = gathered.at(place.gathered(r) + j * gathered.stride);
            batch[j] = j < n ? key : no_short_match;
        }
        sort_batch(batch);
        ShortList<slots> list = lists[r];
        list.merge(batch);
        lists[r] = list;
        state.held &= ~(15U << (4 * r));
        const ShortKey bound = call.bound_of(list.last());
#pragma unroll
        for (int k = 0; k < S::each; ++k) {
            state.bound[k] = k == r ? min(state.bound[k], bound) : state.bound[k];
            state.to[k] = k == r ? place.gathered(k) : state.to[k];
        }
    }
}

/// Squared differences of the thread's own voxels `a` and the candidate's from `b` on, summed along
/// z, by references along z and by lines.
template <class S, int pz, int rows, int layers>
__device__ void sum_squares(const float (&a)[layers][rows], const float* b, int layer,
                            float (&sums)[S::each_z][rows]) {
#pragma unroll
    for (int y = 0; y < rows; ++y) {
        float e[layers];
#pragma unroll
        for (int z = 0; z < layers; ++z) {
            e[z] = __fsub_rn(a[z][y], b[z * layer + y]);
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
__device__ void search_window(const MatchWork& work, const DenseCall& call,
                              const DensePlace<S, px>& place, const Gathered& gathered,
                              const DenseTile& tile, const float* own, DenseState<S>& state,
                              ShortList<slots> (&lists)[S::each]) {
    constexpr int rows = S::each_y + py - 1;
    constexpr int layers = S::each_z + pz - 1;
    float a[layers][rows];
#pragma unroll
    for (int z = 0; z < layers; ++z) {
#pragma unroll
        for (int y = 0; y < rows; ++y) {
            a[z][y] = own[tile.at(z, y, 0)];
        }
    }
    const int half_z = static_cast<int>(work.half[0]);
    const int half_y = static_cast<int>(work.half[1]);
    const int half_x = static_cast<int>(work.half[2]);
    for (int i = 0; i <= 2 * half_z; ++i) {
        const int dz = from_centre(i);
        for (int j = 0; j <= 2 * half_y; ++j) {
            const int dy = from_centre(j);
            const float* candidate = own + tile.at(dz, dy, -half_x);
            auto number = static_cast<std::uint32_t>(
                ((dz + half_z) * (2 * half_y + 1) + dy + half_y) * (2 * half_x + 1));
            for (int k = 0; k <= 2 * half_x; ++k, candidate += tile.pitch, ++number) {
                float sums[S::each_z][rows];
                sum_squares<S, pz>(a, candidate, tile.layer, sums);
#pragma unroll
                for (int r = 0; r < S::each; ++r) {
                    const float sum = distance_sum<S, py, px>(sums, r);
                    state.gather(r, call.keys.key(__float_as_uint(sum), number), gathered);
                }
                if (__any_sync(whole_warp, state.is_full())) {
                    sort_in(state.held, call, place, gathered, state, lists);
                }
            }
        }
    }
    const std::uint32_t twos = state.held | state.held << 2;
    sort_in(twos | twos << 1, call, place, gathered, state, lists);
}

/// The exponent of the lowest bit that is set in any of these voxels, for all threads.
__device__ inline int lowest_bit_of(const float* voxels, int count) {
    __shared__ int least;
    if (threadIdx.x == 0) {
        least = std::numeric_limits<int>::max();
    }
    __syncthreads();
    int own = std::numeric_limits<int>::max();
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
        const float value = voxels[i];
        if (value != 0 && !isnan(value)) {
            own = min(own, lowest_bit(value));
        }
    }
    atomicMin(&least, __reduce_min_sync(whole_warp, own));
    __syncthreads();
    return least;
}

/// Step 1. Each thread keeps the matches of `each` references: the bound in registers, the lists
/// in local memory. It turns to the lists only when some thread of its warp has gathered as many
/// candidates as there is room for.
template <class S, int pz, int py, int px, int slots>
__global__ void __launch_bounds__(S::most_threads, 1)
    dense_kernel(MatchWork work, DenseCall call, std::int64_t tiles_x, std::int64_t tiles_y,
                 std::int64_t first_block, const float* volume, MatchLists results) {
    extern __shared__ float dense_shared[];
    const DensePlace<S, px> place(tiles_x, tiles_y, first_block + blockIdx.x);
    const DenseTile tile = DenseTile::of<S>(work, place.warps_z());
    // Voxels outside the buffer belong to no candidate. The key of a NaN is not less than any
    // bound, so it is never gathered. Places that the pitch leaves free are NaN as well.
    const float nothing = __uint_as_float(0x7FC00000U);
    for (int x = place.thread; x < tile.voxels.wide; x += place.threads) {
        dense_shared[(x + 1) * tile.pitch - 1] = nothing;
    }
    __syncthreads();
    read_voxels(work, tile.voxels,
                {work.first + place.tile_z, work.first_line + place.tile_y, place.tile_x}, nothing,
                volume, dense_shared, [&](int z, int y, int x) { return tile.at(z, y, x); });
    call.exact = exact_below(call.keys, lowest_bit_of(dense_shared, tile.floats()));
    const Gathered gathered{reinterpret_cast<unsigned char*>(dense_shared + tile.floats()),
                            S::each * place.threads * static_cast<int>(sizeof(ShortKey))};
    const float* const own = dense_shared + tile.at(place.in_z + static_cast<int>(work.half[0]),
                                                    place.in_y + static_cast<int>(work.half[1]),
                                                    place.lane + static_cast<int>(work.half[2]));
    DenseState<S> state;
    ShortList<slots> lists[S::each];
    begin_lists(work, call, place, state, lists);
    search_window<S, pz, py>(work, call, place, gathered, tile, own, state, lists);
    put_lists<S, pz, py>(work, call, place, tile, own, lists, results);
}

} // namespace runner::match_cuda
