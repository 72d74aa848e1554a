// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/dense/match_dense_shape.cuh"

#include <cstdint>

namespace runner::match_cuda {

/// Room in shared memory for candidates that are not yet sorted in: batch_keys places for each
/// reference of each thread; those that are free hold no_short_match. Rows of a warp's words lie
/// one after another by reference, then by warp, then by place.
template <class S> struct DenseRoom {
    unsigned char* keys;
    int stride; ///< bytes from one place of a reference to the next
    int own;    ///< bytes to the thread's first place

    template <int px>
    __device__ DenseRoom(unsigned char* start, const DensePlace<S, px>& place)
        : keys(start), stride(place.threads * S::each * static_cast<int>(sizeof(ShortKey))),
          own(((place.thread - place.lane) * S::each + place.lane) *
              static_cast<int>(sizeof(ShortKey))) {
        // As a number that all threads share the compiler would copy it for every candidate.
        if constexpr (S::registers > 24) {
            asm("" : "+r"(stride));
        }
    }

    __device__ ShortKey& at(int r, int bytes) const {
        return *reinterpret_cast<ShortKey*>(keys + bytes + r * row_bytes);
    }

    static constexpr int row_bytes = 32 * static_cast<int>(sizeof(ShortKey));
};

/// What decides whether a candidate is gathered, in registers.
template <class S> struct DenseState {
    ShortKey bound[S::each]; ///< candidates from this on are no matches
    int to[S::each]; ///< where the next candidate is gathered, in bytes: from the last place
                     ///< down to the first, and below 0 when there is no room left

    __device__ static int start(const DenseRoom<S>& room) {
        return room.own + (batch_keys - 1) * room.stride;
    }

    /// Below 0 where some reference has no room for another candidate.
    __device__ int room_left() const {
        int any = to[0];
#pragma unroll
        for (int r = 1; r < S::each; ++r) {
            any |= to[r];
        }
        return any;
    }

    /// A bit for each reference that has no room in some thread of the warp.
    __device__ std::uint32_t full() const {
        std::uint32_t bits = 0;
#pragma unroll
        for (int r = S::each - 1; r >= 0; --r) {
            bits = __funnelshift_l(static_cast<std::uint32_t>(to[r]), bits, 1);
        }
        return bits_of_warp(bits);
    }

    __device__ void gather(int r, ShortKey key, const DenseRoom<S>& room) {
        if (key < bound[r]) {
            room.at(r, to[r]) = key;
            to[r] -= room.stride;
        }
    }
};

/// Empty lists, which are in local memory. Those of places without a reference are full of zeros,
/// so that hardly any candidate is gathered for them.
template <class S, int px, int slots>
__device__ void begin_lists(const MatchCall& call, const DenseSearch& search,
                            const DensePlace<S, px>& place, const DenseRoom<S>& room,
                            DenseState<S>& state, ShortList<slots> (&lists)[S::each]) {
#pragma unroll
    for (int r = 0; r < S::each; ++r) {
        state.bound[r] = place.has(call, r) ? search.beyond : 0;
        state.to[r] = DenseState<S>::start(room);
    }
#pragma unroll 1
    for (int r = 0; r < S::each; ++r) {
        lists[r].clear(place.has(call, r) ? call.count : 0);
        for (int j = 0; j < batch_keys; ++j) {
            room.at(r, room.own + j * room.stride) = no_short_match;
        }
    }
}

/// Sorts the gathered candidates into the lists of those references that have a bit in `wanted`,
/// which is the same in all threads of a warp.
template <class S, int slots>
__device__ void sort_in(std::uint32_t wanted, const DenseSearch& search, const DenseRoom<S>& room,
                        DenseState<S>& state, ShortList<slots> (&lists)[S::each]) {
#pragma unroll 1
    for (; wanted != 0; wanted &= wanted - 1) {
        const int r = __ffs(static_cast<int>(wanted)) - 1;
        ShortKey batch[batch_keys];
#pragma unroll
        for (int j = 0; j < batch_keys; ++j) {
            ShortKey& key = room.at(r, room.own + j * room.stride);
            batch[j] = key;
            key = no_short_match;
        }
        sort_batch(batch);
        ShortList<slots> list = lists[r];
        list.merge(batch);
        lists[r] = list;
        const ShortKey bound = search.bound_of(list.last());
#pragma unroll
        for (int k = 0; k < S::each; ++k) {
            state.bound[k] = k == r ? bound : state.bound[k];
            state.to[k] = k == r ? DenseState<S>::start(room) : state.to[k];
        }
    }
}

} // namespace runner::match_cuda
