// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/dense/match_dense_result.cuh"
#include "kernels/match/dense/match_dense_room.cuh"
#include "kernels/match/dense/match_dense_tile.cuh"

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

    float a[layers][rows]; ///< the references' voxels
    /// The candidate's: after `turn` steps its layer z is in place (z + turn) % layers.
    float b[layers][rows];
    const float* next;     ///< the first voxels that are not in b
    int step;              ///< from these to the next
    std::uint32_t number;  ///< of the candidate
    std::uint32_t numbers; ///< from one number to the next
    int turn;
    int left; ///< candidates after this one; below 0 at the end

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
                e[z] = __fsub_rn(a[z][y], b[(z + turns) % layers][y]);
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
    __device__ bool judge(const DenseCall& call, const DenseRoom<S>& room, DenseState<S>& state) {
        if constexpr (turns < layers) {
            float sums[S::each_z][rows];
            sum_squares<turns>(sums);
#pragma unroll
            for (int r = 0; r < S::each; ++r) {
                const float sum = distance_sum<S, py, px>(sums, r);
                state.gather(r, call.keys.key(__float_as_uint(sum), number), room);
            }
            number += numbers;
            turn = (turns + 1) % layers;
            --left;
            return !__any_sync(whole_warp, (state.room_left() | left) < 0);
        } else {
            return true;
        }
    }

    /// Judges candidates until judge() is false. Each case is a place in a cycle of steps, after
    /// which the layers are where they were.
    __device__ void judge_some(const DenseCall& call, const DenseRoom<S>& room,
                               DenseState<S>& state) {
        static_assert(layers <= 6);
        bool more = true;
        while (more) {
            switch (turn) {
            case 0:
                if (more = judge<0>(call, room, state); !more) {
                    break;
                }
                [[fallthrough]];
            case 1:
                if (more = judge<1>(call, room, state); !more) {
                    break;
                }
                [[fallthrough]];
            case 2:
                if (more = judge<2>(call, room, state); !more) {
                    break;
                }
                [[fallthrough]];
            case 3:
                if (more = judge<3>(call, room, state); !more) {
                    break;
                }
                [[fallthrough]];
            case 4:
                if (more = judge<4>(call, room, state); !more) {
                    break;
                }
                [[fallthrough]];
            default: more = judge<5>(call, room, state);
            }
        }
    }

    /// The first voxels of a run.
    __device__ void begin(const float* first, std::uint32_t first_number, int candidates) {
        next = first;
        number = first_number;
        left = candidates - 1;
        turn = 0;
#pragma unroll
        for (int z = 0; z < layers; ++z) {
            read(b[z]);
            next += step;
        }
    }
};

/// Judges every candidate of the thread's references, whose first voxel is at `own`.
template <class S, int pz, int py, int px, int slots>
__device__ void search_window(const MatchWork& work, const DenseCall& call,
                              const DenseRoom<S>& room, const DenseTile& tile, const float* own,
                              DenseState<S>& state, ShortList<slots> (&lists)[S::each]) {
    using Run = DenseRun<S, pz, py, px>;
    const int half_z = static_cast<int>(work.half[0]);
    const int half_y = static_cast<int>(work.half[1]);
    const int half_x = static_cast<int>(work.half[2]);
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
    for (int i = 0; i <= 2 * (Run::along_z ? half_x : half_z); ++i) {
        for (int j = 0; j < high; ++j) {
            const int dz = Run::along_z ? -half_z : from_centre(i);
            const int dy = from_centre(j);
            const int dx = Run::along_z ? from_centre(i) : -half_x;
            run.begin(own + tile.at(dz, dy, dx),
                      ((dz + half_z) * high + dy + half_y) * wide + dx + half_x,
                      2 * (Run::along_z ? half_z : half_x) + 1);
            while (run.left >= 0) {
                run.judge_some(call, room, state);
                sort_in(state.full(), call, room, state, lists);
            }
        }
    }
    sort_in((1U << S::each) - 1, call, room, state, lists);
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
    const DenseRoom<S> room(reinterpret_cast<unsigned char*>(dense_shared), place);
    float* const voxels = dense_shared + S::room_words * place.threads;
    const int lowest = read_tile(
        work, tile, {work.first + place.tile_z, work.first_line + place.tile_y, place.tile_x},
        volume, voxels);
    call.exact = exact_below(call.keys, lowest);
    const float* const own = voxels + tile.at(place.in_z + static_cast<int>(work.half[0]),
                                              place.in_y + static_cast<int>(work.half[1]),
                                              place.lane + static_cast<int>(work.half[2]));
    DenseState<S> state;
    ShortList<slots> lists[S::each];
    begin_lists(work, call, place, room, state, lists);
    search_window<S, pz, py, px>(work, call, room, tile, own, state, lists);
    put_lists<S, pz, py>(work, call, place, tile, own, room, lists, results);
}

} // namespace runner::match_cuda
