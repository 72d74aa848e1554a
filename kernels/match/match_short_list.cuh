// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match_device.cuh"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace runner::match_cuda {

/// A key in 32 bits: the number of the candidate in its window takes the place of the last bits of
/// D. Comparing and sorting such keys takes half to a third of the instructions. They order as
/// (D, corner) except where distances differ in the bits that were dropped.
using ShortKey = std::uint32_t;

inline constexpr ShortKey no_short_match = 0xFFFFFFFFU;

/// Where the bits of D end and those of the number begin.
struct ShortKeys {
    ShortKey numbers; ///< ones in the bits of the number

    /// For this many candidates in a window, at most 2^16.
    static ShortKeys of(std::int64_t candidates) {
        const auto last = static_cast<std::uint32_t>(candidates - 1);
        return {std::bit_floor(std::max(last, 1U)) * 2 - 1};
    }

    __host__ __device__ ShortKey key(std::uint32_t distance_bits, std::uint32_t number) const {
        return (distance_bits & ~numbers) | number;
    }
    __device__ bool same_distance(ShortKey a, ShortKey b) const {
        return (a | numbers) == (b | numbers);
    }
    __device__ std::uint32_t number(ShortKey key) const { return key & numbers; }
};

/// Keys that enter a list at once.
inline constexpr int batch_keys = 8;

__device__ inline void exchange(ShortKey& low, ShortKey& high) {
    const ShortKey least = min(low, high);
    high = max(low, high);
    low = least;
}

/// Batcher's network of 19 exchanges.
__device__ inline void sort_batch(ShortKey (&batch)[batch_keys]) {
    constexpr int pairs[19][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6},
                                  {5, 7}, {1, 2}, {5, 6}, {0, 4}, {1, 5}, {2, 6}, {3, 7},
                                  {2, 4}, {3, 5}, {1, 2}, {3, 4}, {5, 6}};
#pragma unroll
    for (int i = 0; i < 19; ++i) {
        exchange(batch[pairs[i][0]], batch[pairs[i][1]]);
    }
}

/// The least keys of a reference, sorted: the last `count` of the slots; those before are 0, so
/// that the last key is always in the last slot.
template <int slots> struct ShortList {
    ShortKey keys[slots];
    ShortKey dropped[2]; ///< the least of the keys that were not kept, sorted

    __device__ void clear(int count) {
        for (int i = 0; i < slots; ++i) {
            keys[i] = i < slots - count ? 0 : no_short_match;
        }
        dropped[0] = dropped[1] = no_short_match;
    }

    __device__ ShortKey last() const { return keys[slots - 1]; }

    /// Keeps the least two of keys that fall and rise once, crosswise: of two keys half the length
    /// apart the lesser are the lesser half.
    __device__ void drop(ShortKey (&greater)[batch_keys]) {
#pragma unroll
        for (int apart = batch_keys / 2; apart > 1; apart /= 2) {
#pragma unroll
            for (int i = 0; i < apart; ++i) {
                greater[i] = min(greater[i], greater[i + apart]);
            }
        }
        exchange(greater[0], greater[1]);
        dropped[1] = min(min(dropped[1], greater[1]), max(dropped[0], greater[0]));
        dropped[0] = min(dropped[0], greater[0]);
    }

    /// The least of these and of a sorted batch stay: those that can are the greater of the list
    /// and the lesser of the batch, crosswise; what is left falls and rises once, and halving steps
    /// of exchanges sort that (Batcher's bitonic merge).
    __device__ void merge(const ShortKey (&batch)[batch_keys]) {
        static_assert(slots >= batch_keys && (slots & (slots - 1)) == 0);
        ShortKey greater[batch_keys];
#pragma unroll
        for (int i = 0; i < batch_keys; ++i) {
            ShortKey& key = keys[slots - 1 - i];
            greater[i] = max(key, batch[i]);
            key = min(key, batch[i]);
        }
        drop(greater);
#pragma unroll
        for (int apart = slots / 2; apart > 0; apart /= 2) {
#pragma unroll
            for (int i = 0; i < slots; ++i) {
                if ((i & apart) == 0) {
                    exchange(keys[i], keys[i + apart]);
                }
            }
        }
    }
};

/// For a number that is neither 0 nor infinite or NaN: the exponent of its lowest bit that is set.
__device__ inline int lowest_bit(float value) {
    const std::uint32_t bits = __float_as_uint(value);
    const auto exponent = static_cast<int>(bits >> 23 & 255U);
    const std::uint32_t mantissa = (bits & 0x7FFFFFU) | (exponent > 0 ? 0x800000U : 0U);
    return max(exponent, 1) - 150 + __ffs(static_cast<int>(mantissa)) - 1;
}

/// The bits of a distance below which short keys hold all of D, where every voxel is a multiple of
/// 2^unit: D is a multiple of its square then, and such a D has no other bits than a key keeps.
__device__ inline std::uint32_t exact_below(const ShortKeys& keys, int unit) {
    const int most = 24 - __popc(keys.numbers) + 2 * min(unit, 128);
    if (most < -125) {
        return 0; // the last bits of D are below those of the smallest numbers
    }
    return most > 127 ? 0x7F800000U : static_cast<std::uint32_t>(most + 127) << 23;
}

} // namespace runner::match_cuda
