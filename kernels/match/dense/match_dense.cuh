// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/dense/match_dense_result.cuh"
#include "kernels/match/dense/match_dense_room.cuh"
#include "kernels/match/dense/match_dense_tile.cuh"

#include <algorithm>
#include <cstdint>

namespace runner::match_cuda {

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

/// A run of candidates of a thread's references, one step after the other: along z, so that each
/// step reads one more layer of voxels, or in an image along x.
template <class S, int pz, int py, int px> struct DenseRun {
    static constexpr int rows = S::each_y + py - 1;
    static constexpr int layers = S::each_z + pz - 1;
    static constexpr bool along_z = layers > 1;
    /// The candidate's last layers, which stay in registers: as many as there is room for.
    static constexpr int held = std::clamp(S::registers / rows, 1, layers);
    static constexpr int read_again = layers - held;

    float a[layers][rows]; ///< the references' voxels
    /// The candidate's: after some steps its layer read_again + z is in place (z + steps) % held.
    float b[held][rows];
    const float* next;     ///< the first voxels after those in b
    int step;              ///< from these to the next
    std::uint32_t number;  ///< of the candidate
    std::uint32_t numbers; ///< from one number to the next
    int length;            ///< candidates of the run
    int left;              ///< candidates after this one; below 0 at the end

    __device__ void read(float (&line)[rows]) const {
#pragma unroll
        for (int y = 0; y < rows; ++y) {
            line[y] = next[y];
        }
    }

    /// Squared differences, summed along z, by references along z and by lines, if so many steps
    /// have been taken. Then the next candidate's last layer takes the place of the first.
    template <int turns> __device__ void sum_squares(float (&sums)[S::each_z][rows]) {
#pragma unroll
        for (int y = 0; y < rows; ++y) {
            float e[layers];
#pragma unroll
            for (int z = 0; z < layers; ++z) {
                const float other = z < read_again ? next[(z - layers) * step + y]
                                                   : b[(z - read_again + turns) % held][y];
                e[z] = __fsub_rn(a[z][y], other);
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
        read(b[turns]);
        next += step;
    }

    /// Judges the candidate and goes on to the next; false where the run has ended or candidates
    /// have to be sorted in.
    template <int turns>
    __device__ bool judge(const DenseSearch& search, const DenseRoom<S>& room,
                          DenseState<S>& state) {
        if constexpr (turns < held) {
            float sums[S::each_z][rows];
            sum_squares<turns>(sums);
#pragma unroll
            for (int r = 0; r < S::each; ++r) {
                const float sum = distance_sum<S, py, px>(sums, r);
                state.gather(r, search.keys.key(__float_as_uint(sum), number), room);
            }
            number += numbers;
            --left;
            return !__any_sync(whole_warp, (state.room_left() | left) < 0);
        } else {
            return true;
        }
    }

    /// Judges candidates until judge() is false. Each case is a place in a cycle of steps, after
    /// which the layers are where they were. The loop in the choice leads from the last step to the
    /// first without choosing again.
    __device__ void judge_some(const DenseSearch& search, const DenseRoom<S>& room,
                               DenseState<S>& state) {
        static_assert(held <= 6);
        switch (static_cast<unsigned>(length - 1 - left) % held) {
            do {
            case 0:
                if (!judge<0>(search, room, state)) {
                    return;
                }
                [[fallthrough]];
            case 1:
                if (!judge<1>(search, room, state)) {
                    return;
                }
                [[fallthrough]];
            case 2:
                if (!judge<2>(search, room, state)) {
                    return;
                }
                [[fallthrough]];
            case 3:
                if (!judge<3>(search, room, state)) {
                    return;
                }
                [[fallthrough]];
            case 4:
                if (!judge<4>(search, room, state)) {
                    return;
                }
                [[fallthrough]];
            default:;
            } while (judge<5>(search, room, state));
        }
    }

    /// The first voxels of a run.
    __device__ void begin(const float* first, std::uint32_t first_number, int candidates) {
        next = first + read_again * step;
        number = first_number;
        length = candidates;
        left = candidates - 1;
#pragma unroll
        for (int z = 0; z < held; ++z) {
            read(b[z]);
            next += step;
        }
    }
};

/// Judges every candidate of the thread's references, whose first voxel is at `own`.
template <class S, int pz, int py, int px, int slots>
__device__ void search_window(const MatchCall& call, const DenseSearch& search,
                              const DenseRoom<S>& room, const DenseTile& tile, const float* own,
                              DenseState<S>& state, ShortList<slots> (&lists)[S::each]) {
    using Run = DenseRun<S, pz, py, px>;
    const int half_z = static_cast<int>(call.half[0]);
    const int half_y = static_cast<int>(call.half[1]);
    const int half_x = static_cast<int>(call.half[2]);
    const int wide = 2 * half_x + 1;
    const int high = 2 * half_y + 1;
    Run run;
    run.step = Run::along_z ? tile.layer : tile.pitch;
    run.numbers = Run::along_z ? wide * high : 1;
#pragma unroll
    for (int z = 0; z < Run::layers; ++z) {
#pragma unroll
        for (int y = 0; y < Run::rows; ++y) {
            run.a[z][y] = own[tile.at(z, y, 0)];
        }
    }
    const int columns = 2 * (Run::along_z ? half_x : half_z) + 1;
    for (int i = 0; i < columns; ++i) {
        for (int j = 0; j < high; ++j) {
            const int dz = Run::along_z ? -half_z : from_centre(i);
            const int dy = from_centre(j);
            const int dx = Run::along_z ? from_centre(i) : -half_x;
            run.begin(own + tile.at(dz, dy, dx),
                      ((dz + half_z) * high + dy + half_y) * wide + dx + half_x,
                      2 * (Run::along_z ? half_z : half_x) + 1);
            const bool last = i == columns - 1 && j == high - 1;
            while (run.left >= 0) {
                run.judge_some(search, room, state);
                const bool end = last && run.left < 0;
                sort_in(end ? (1U << S::each) - 1 : state.full(), search, room, state, lists);
            }
        }
    }
}

/// The same number. Where registers are few the compiler does not know that: it computes once more
/// what follows from it, in place of keeping that in registers.
template <class S> __device__ unsigned recomputed(unsigned number) {
    if constexpr (S::most_threads > 384) {
        asm volatile("" : "+r"(number));
    }
    return number;
}

/// Step 1. Each thread keeps the matches of `each` references: the bound in registers, the lists
/// in local memory. It turns to the lists only when some thread of its warp has gathered as many
/// candidates as there is room for.
template <class S, int pz, int py, int px, int slots>
__global__ void __launch_bounds__(S::most_threads, 1)
    dense_kernel(MatchCall call, DenseSearch search, DenseTiles tiles, std::int64_t first_block,
                 const float* volume, MatchLists results) {
    extern __shared__ float dense_shared[];
    const DensePlace<S, px> place(tiles, first_block + blockIdx.x, threadIdx.x);
    const DenseTile tile = DenseTile::of<S>(call, place.warps_z(), place.wide);
    const DenseRoom<S> room(reinterpret_cast<unsigned char*>(dense_shared), place);
    float* const voxels = dense_shared + S::room_words * place.threads;
    const int lowest = read_tile(
        call, tile, {call.first + place.tile_z, call.first_line + place.tile_y, place.tile_x},
        volume, voxels);
    search.exact = exact_below(search.keys, lowest);
    const float* const own = voxels + tile.at(place.in_z + static_cast<int>(call.half[0]),
                                              place.in_y + static_cast<int>(call.half[1]),
                                              place.in_x + static_cast<int>(call.half[2]));
    DenseState<S> state;
    ShortList<slots> lists[S::each];
    begin_lists(call, search, place, room, state, lists);
    search_window<S, pz, py, px>(call, search, room, tile, own, state, lists);
    const DensePlace<S, px> at_the_end(tiles, first_block + recomputed<S>(blockIdx.x),
                                       recomputed<S>(threadIdx.x));
    put_lists<S, pz, py>(call, search, at_the_end, tile, own, room, lists, results);
}

} // namespace runner::match_cuda
