// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match_device.cuh"

namespace runner::match_cuda {

/// The least or the greatest of the keys of this lane and its partner, `apart` lanes away.
__device__ inline Key exchange_lanes(Key key, int apart, bool least) {
    const Key theirs = __shfl_xor_sync(whole_warp, key, apart);
    return (theirs < key) == least ? theirs : key;
}

/// Sorts a key of every lane (Batcher's bitonic sort).
__device__ inline Key sort_lanes(Key key) {
    const auto lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
    for (int run = 2; run <= 32; run *= 2) {
#pragma unroll
        for (int apart = run / 2; apart > 0; apart /= 2) {
            key = exchange_lanes(key, apart, ((lane & run) == 0) == ((lane & apart) == 0));
        }
    }
    return key;
}

/// The least 64 of the keys that a warp has taken, sorted: two rows, in each a key a lane. All
/// lanes of the warp call every function.
struct WarpList {
    static constexpr int rows = Match::max_count / 32;
    static_assert(rows == 2);

    Key keys[rows];

    __device__ void clear() { keys[0] = keys[1] = no_match; }

    /// Takes a key of every lane: the greatest of the list meet the least of these, crosswise; what
    /// is left falls and rises once, and halving steps of exchanges sort that.
    __device__ void take(Key key) {
        const auto lane = static_cast<int>(threadIdx.x % 32);
        const Key crossed = __shfl_xor_sync(whole_warp, sort_lanes(key), 31);
        keys[1] = crossed < keys[1] ? crossed : keys[1];
        exchange(keys[0], keys[1]);
#pragma unroll
        for (int apart = 16; apart > 0; apart /= 2) {
#pragma unroll
            for (int i = 0; i < rows; ++i) {
                keys[i] = exchange_lanes(keys[i], apart, (lane & apart) == 0);
            }
        }
    }

    /// The key at this place, for all lanes.
    __device__ Key at(int place) const {
        return __shfl_sync(whole_warp, place < 32 ? keys[0] : keys[1], place % 32);
    }
};

} // namespace runner::match_cuda
