// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/dense/match_dense_room.cuh"
#include "kernels/match/dense/match_dense_shape.cuh"
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
__device__ inline int to_candidate(const MatchCall& call, const DenseSearch& search,
                                   const DenseTile& tile, std::uint32_t number) {
    const Divided z = divide(number, search.layer);
    const Divided y = divide(z.rest, search.wide);
    return tile.at(static_cast<int>(z.quotient) - static_cast<int>(call.half[0]),
                   static_cast<int>(y.quotient) - static_cast<int>(call.half[1]),
                   static_cast<int>(y.rest) - static_cast<int>(call.half[2]));
}

/// Room in shared memory for the matches of one reference of each lane, sorted: words of the room
/// for candidates, which is empty then.
template <class S> struct DenseRows {
    ShortKey* words; ///< of the warp
    int stride;      ///< words from the first reference's to those of the next place

    template <int px>
    __device__ DenseRows(const DenseRoom<S>& room, const DensePlace<S, px>& place)
        : words(&room.at(0, room.own) - place.lane), stride(place.threads * S::each) {}

    __device__ Key key(int lane, int i) const {
        const ShortKey* const at = match(lane, i);
        return static_cast<Key>(at[0]) << 32 | at[32];
    }
    __device__ void put(int lane, int i, Key key) const {
        ShortKey* const at = match(lane, i);
        at[0] = static_cast<ShortKey>(key >> 32);
        at[32] = static_cast<ShortKey>(key);
    }

  private:
    /// Matches of one lane are two banks apart: a warp reads those of two lanes at once.
    __device__ ShortKey* match(int lane, int i) const {
        constexpr int in_place = S::each / 2;
        const auto number = static_cast<unsigned>(i);
        return words + number / in_place * stride + number % in_place * 64 + (lane + 2 * i) % 32U;
    }
};

/// A reference: its row of the lists and its corner.
struct MatchedAt {
    std::int64_t index;
    std::int64_t at[3];

    template <class S, int px>
    __device__ MatchedAt(const MatchCall& call, const DensePlace<S, px>& place, int r)
        : index((place.z(r) * call.grid[1] + place.y(r)) * call.grid[2] + place.x()),
          at{call.first + place.z(r), call.first_line + place.y(r), place.x()} {}

    /// The result of another lane of the thread's warp.
    template <class S, int px>
    __device__ MatchedAt other(const MatchCall& call, const DensePlace<S, px>& place,
                               int lane) const {
        MatchedAt there = *this;
        there.index += place.lines_to(lane) * call.grid[2] + place.places_to(lane);
        there.at[1] += place.lines_to(lane);
        there.at[2] += place.places_to(lane);
        return there;
    }
};

/// Computes all of D of the matches of the lane's reference, those of its list and, where
/// `another`, the first key that was dropped, and sorts them into its rows. Returns how many there
/// are.
template <int pz, int py, int px, class S, int slots>
__device__ int sort_matches(const MatchCall& call, const DenseSearch& search,
                            const ShortList<slots>& list, bool another, const DenseTile& tile,
                            const float* own, const DenseRows<S>& rows) {
    const Patch<pz, py, px> patch(tile, own);
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const auto itself = static_cast<std::uint32_t>(call.candidates() / 2);
    const ShortKey* const keys = list.keys + (slots - call.count);
    int found = 0;
    Key last = -1;
    ShortKey next = keys[0];
#pragma unroll 1
    for (int i = 0; i <= call.count; ++i) {
        const ShortKey key = next;
        next = i + 1 < call.count ? keys[i + 1] : another ? list.dropped[0] : no_short_match;
        if (key == no_short_match) {
            continue;
        }
        // Keys below `exact` hold all of D, and the reference itself is at no distance.
        const std::uint32_t number = search.keys.number(key);
        float sum = __uint_as_float(key & ~search.keys.numbers);
        if (number == itself) {
            sum = 0;
        } else if (key >= search.exact) {
            sum = patch.distance(tile, own + to_candidate(call, search, tile, number));
        }
        if (sum > call.most) {
            continue;
        }
        // Only keys that were equal but for their numbers can be out of order.
        const Key whole = key_of(sum, number);
        int to = found;
        for (; whole < last && to > 0; --to) {
            const Key before = rows.key(lane, to - 1);
            if (before < whole) {
                break;
            }
            if (to < call.count) {
                rows.put(lane, to, before);
            }
        }
        if (to < call.count) {
            rows.put(lane, to, whole);
        }
        last = max(last, whole);
        found = min(found + 1, call.count);
    }
    return found;
}

/// Writes the rows of those lanes' references that have a bit in `wanted`, whole lines at a time.
/// `found` and `at` are the lane's.
template <class S, int px>
__device__ void put_rows(const MatchCall& call, const DenseSearch& search,
                         const DensePlace<S, px>& place, const DenseRows<S>& rows, unsigned wanted,
                         int found, const MatchedAt& at, const MatchLists& results) {
    const int lane = place.lane;
    const std::int64_t layer = call.volume[1] * call.volume[2];
    const MatchedAt zero = at.other(call, place, 0);
    const std::int64_t origin =
        call.index(zero.at[0] - call.half[0], zero.at[1] - call.half[1], zero.at[2] - call.half[2]);
    const std::int64_t first = zero.index * call.count;
    // From the place that continues the first row of lanes along x to that of the second row.
    const std::int64_t rows_on = (S::tile_y * call.grid[2] - place.wide) * call.count;
    const std::int64_t voxels_on = S::tile_y * call.volume[2] - place.wide;
    const int end = (32 - __clz(static_cast<int>(wanted))) * call.count;
    int of = lane / call.count;
    int i = lane % call.count;
    for (int to = lane; to - lane < end; to += 32) {
        const int there = __shfl_sync(whole_warp, found, of % 32);
        if (to < end && (wanted >> of & 1U) != 0) {
            const bool second = of >= place.wide;
            const bool turned = call.order == MatchOrder::nearest_last && i < there;
            std::uint64_t corner = ~std::uint64_t{0};
            float distance = __uint_as_float(0x7F800000U);
            if (i < there) {
                const Key key = rows.key(of, turned ? there - 1 - i : i);
                const Divided z = divide(static_cast<std::uint32_t>(key), search.layer);
                const Divided y = divide(z.rest, search.wide);
                corner = static_cast<std::uint64_t>(origin + z.quotient * layer +
                                                    y.quotient * call.volume[2] + y.rest + of +
                                                    (second ? voxels_on : 0));
                distance = __fdiv_rn(distance_of(key), call.patch_voxels);
            }
            // Nobody reads these soon: the lists in local memory need the cache.
            const std::int64_t slot = first + to + (second ? rows_on : 0);
            __stcs(results.index + slot, corner);
            __stcs(results.distance + slot, distance);
        }
        for (i += 32; i >= call.count; i -= call.count) {
            ++of;
        }
    }
    if ((wanted >> lane & 1U) != 0) {
        results.count[at.index] = found;
    }
}

/// The matches of a reference whose short keys leave open which they are: all lanes of the warp
/// judge its candidates by all of D, of those no farther than `last`.
template <int pz, int py, int px>
__device__ void put_settled(const MatchCall& call, const DenseSearch& search, ShortKey last,
                            const DenseTile& tile, const float* own, const MatchedAt& at,
                            const MatchLists& results) {
    const auto lane = static_cast<std::uint32_t>(threadIdx.x % 32);
    const auto candidates = static_cast<std::uint32_t>(call.candidates());
    const Patch<pz, py, px> patch(tile, own);
    WarpList list;
    list.clear();
    Key waiting = no_match;
    for (std::uint32_t first = 0; first < candidates; first += 32) {
        const std::uint32_t number = first + lane;
        Key key = no_match;
        if (number < candidates) {
            const float sum = patch.distance(tile, own + to_candidate(call, search, tile, number));
            const bool near = search.keys.key(__float_as_uint(sum), 0) <= last && sum <= call.most;
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
        const bool there = list.keys[i] != no_match && static_cast<int>(lane) + 32 * i < call.count;
        found += __popc(__ballot_sync(whole_warp, there));
    }
#pragma unroll
    for (int i = 0; i < WarpList::rows; ++i) {
        const int slot = static_cast<int>(lane) + 32 * i;
        if (slot < call.count) {
            put_match(call, list.keys[i], slot, found, at.index, at.at, results);
        }
    }
    if (lane == 0) {
        results.count[at.index] = found;
    }
}

/// Writes the rows of the warp's references.
template <class S, int pz, int py, int px, int slots>
__device__ void put_lists(const MatchCall& call, const DenseSearch& search,
                          const DensePlace<S, px>& place, const DenseTile& tile, const float* own,
                          const DenseRoom<S>& room, const ShortList<slots> (&lists)[S::each],
                          const MatchLists& results) {
    const DenseRows<S> rows(room, place);
    __syncwarp();
#pragma unroll 1
    for (int r = 0; r < S::each; ++r) {
        const ShortList<slots>& list = lists[r];
        const ShortKey last = list.last();
        const float* first = own + tile.at(r / S::each_y, r % S::each_y, 0);
        const MatchedAt at(call, place, r);
        const bool open = place.has(call, r) && last != no_short_match && last >= search.exact;
        const bool another = open && search.keys.same_distance(list.dropped[0], last);
        const bool unsettled = open && search.keys.same_distance(list.dropped[1], last);
        const bool settled = place.has(call, r) && !unsettled;
        const int found =
            settled ? sort_matches<pz, py, px>(call, search, list, another, tile, first, rows) : 0;
        __syncwarp();
        put_rows(call, search, place, rows, __ballot_sync(whole_warp, settled), found, at, results);
        __syncwarp();
        for (std::uint32_t left = __ballot_sync(whole_warp, unsettled); left != 0;
             left &= left - 1) {
            const int lane = __ffs(static_cast<int>(left)) - 1;
            const float* const there =
                first + tile.at(0, place.lines_to(lane), place.places_to(lane));
            put_settled<pz, py, px>(call, search,
                                    __shfl_sync(whole_warp, last, lane) | search.keys.numbers, tile,
                                    there, at.other(call, place, lane), results);
        }
    }
}

} // namespace runner::match_cuda
