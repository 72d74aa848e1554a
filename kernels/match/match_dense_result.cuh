// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match_dense_shape.cuh"
#include "kernels/match/match_warp_list.cuh"

#include <cstdint>

namespace runner::match_cuda {

/// Voxels of a patch.
template <int pz, int py, int px> struct Patch {
    float voxels[px][py][pz];

    __device__ Patch(const DenseTile& tile, const float* first) {
#pragma unroll
        for (int x = 0; x < px; ++x) {
#pragma unroll
            for (int y = 0; y < py; ++y) {
#pragma unroll
                for (int z = 0; z < pz; ++z) {
                    voxels[x][y][z] = first[tile.at(z, y, x)];
                }
            }
        }
    }

    /// D of this and another.
    __device__ float distance(const DenseTile& tile, const float* first) const {
        float sum = 0;
#pragma unroll
        for (int x = 0; x < px; ++x) {
            float line = 0;
#pragma unroll
            for (int y = 0; y < py; ++y) {
                float square = 0;
#pragma unroll
                for (int z = 0; z < pz; ++z) {
                    const float e = __fsub_rn(voxels[x][y][z], first[tile.at(z, y, x)]);
                    square = z == 0 ? __fmul_rn(e, e) : __fmaf_rn(e, e, square);
                }
                line = y == 0 ? square : __fadd_rn(line, square);
            }
            sum = x == 0 ? line : __fadd_rn(sum, line);
        }
        return sum;
    }
};

/// From a reference's first voxel to that of a candidate.
__device__ inline int to_candidate(const MatchWork& work, const DenseCall& call,
                                   const DenseTile& tile, std::uint32_t number) {
    const Divided z = divide(number, call.layer);
    const Divided y = divide(z.rest, call.wide);
    return tile.at(static_cast<int>(z.quotient) - static_cast<int>(work.half[0]),
                   static_cast<int>(y.quotient) - static_cast<int>(work.half[1]),
                   static_cast<int>(y.rest) - static_cast<int>(work.half[2]));
}

/// Matches of the lane's reference with all of D: those of its list and, where `another`, the first
/// key that was dropped.
template <int pz, int py, int px, int slots>
__device__ void put_matches(const MatchWork& work, const DenseCall& call,
                            const ShortList<slots>& list, bool another, const DenseTile& tile,
                            const float* own, std::int64_t index, const std::int64_t (&at)[3],
                            const MatchLists& results) {
    const Patch<pz, py, px> patch(tile, own);
    Key keys[slots + 1];
    const auto whole_key = [&](ShortKey key) {
        const std::uint32_t number = call.keys.number(key);
        const float sum = patch.distance(tile, own + to_candidate(work, call, tile, number));
        return sum <= work.most ? key_of(sum, number) : no_match;
    };
#pragma unroll 1
    for (int i = 0; i < slots; ++i) {
        const ShortKey key = list.keys[i];
        keys[i] = i < slots - work.count ? -1 : key == no_short_match ? no_match : whole_key(key);
    }
    keys[slots] = another ? whole_key(list.dropped[0]) : no_match;
    // Only keys that were equal but for their numbers can be out of order.
    bool turned = true;
    while (turned) {
        turned = false;
#pragma unroll
        for (int i = 0; i < slots; ++i) {
            turned = turned || keys[i + 1] < keys[i];
            exchange(keys[i], keys[i + 1]);
        }
    }
    const int skip = slots - work.count;
    int found = 0;
#pragma unroll
    for (int i = 0; i < slots; ++i) {
        found += i >= skip && keys[i] != no_match ? 1 : 0;
    }
#pragma unroll
    for (int i = 0; i < slots; ++i) {
        if (i >= skip) {
            put_match(work, keys[i], i - skip, found, index, at, results);
        }
    }
    results.count[index] = found;
}

/// The matches of a reference whose short keys leave open which they are: all lanes of the warp
/// judge its candidates by all of D, of those no farther than `last`.
template <int pz, int py, int px>
__device__ void put_settled(const MatchWork& work, const DenseCall& call, ShortKey last,
                            const DenseTile& tile, const float* own, std::int64_t index,
                            const std::int64_t (&at)[3], const MatchLists& results) {
    const auto lane = static_cast<std::uint32_t>(threadIdx.x % 32);
    const auto candidates = static_cast<std::uint32_t>(work.candidates());
    const Patch<pz, py, px> patch(tile, own);
    WarpList list;
    list.clear();
    Key waiting = no_match;
    for (std::uint32_t first = 0; first < candidates; first += 32) {
        const std::uint32_t number = first + lane;
        Key key = no_match;
        if (number < candidates) {
            const float sum = patch.distance(tile, own + to_candidate(work, call, tile, number));
            const bool near = call.keys.key(__float_as_uint(sum), 0) <= last && sum <= work.most;
            key = near ? key_of(sum, number) : no_match;
        }
        if (__any_sync(whole_warp, key != no_match && waiting != no_match)) {
            list.take(waiting);
            waiting = no_match;
        }
        waiting = key != no_match ? key : waiting;
    }
    list.take(waiting);
    int found = 0;
#pragma unroll
    for (int i = 0; i < WarpList::rows; ++i) {
        const bool there = list.keys[i] != no_match && static_cast<int>(lane) + 32 * i < work.count;
        found += __popc(__ballot_sync(whole_warp, there));
    }
#pragma unroll
    for (int i = 0; i < WarpList::rows; ++i) {
        const int slot = static_cast<int>(lane) + 32 * i;
        if (slot < work.count) {
            put_match(work, list.keys[i], slot, found, index, at, results);
        }
    }
    if (lane == 0) {
        results.count[index] = found;
    }
}

/// Writes the rows of the warp's references.
template <class S, int pz, int py, int px, int slots>
__device__ void put_lists(const MatchWork& work, const DenseCall& call,
                          const DensePlace<S, px>& place, const DenseTile& tile, const float* own,
                          const ShortList<slots> (&lists)[S::each], const MatchLists& results) {
#pragma unroll 1
    for (int r = 0; r < S::each; ++r) {
        const ShortList<slots>& list = lists[r];
        const ShortKey last = list.last();
        const float* first = own + tile.at(r / S::each_y, r % S::each_y, 0);
        const std::int64_t at[3] = {work.first + place.z(r), work.first_line + place.y(r),
                                    place.x()};
        const std::int64_t index =
            (place.z(r) * work.grid[1] + place.y(r)) * work.grid[2] + place.x();
        const bool open = last != no_short_match && last >= call.exact;
        const bool another = open && call.keys.same_distance(list.dropped[0], last);
        const bool unsettled = open && call.keys.same_distance(list.dropped[1], last);
        if (place.has(work, r) && !unsettled) {
            put_matches<pz, py, px>(work, call, list, another, tile, first, index, at, results);
        }
        for (std::uint32_t left = __ballot_sync(whole_warp, unsettled); left != 0;
             left &= left - 1) {
            const int lane = __ffs(static_cast<int>(left)) - 1;
            const int beside = lane - place.lane;
            const std::int64_t there[3] = {at[0], at[1], at[2] + beside};
            put_settled<pz, py, px>(work, call,
                                    __shfl_sync(whole_warp, last, lane) | call.keys.numbers, tile,
                                    first + beside * tile.pitch, index + beside, there, results);
        }
    }
}

} // namespace runner::match_cuda
