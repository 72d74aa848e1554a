// SPDX-License-Identifier: BSD-3-Clause
// Bytes at any address by aligned accesses: two neighbours are read and shifted into one.
#pragma once

#include "kernels/transpose/transpose_device.cuh"

#include <cstddef>
#include <cstdint>

namespace runner::transpose_cuda {

/// `words` words that begin `shift` bytes into `from`, shift being a multiple of `element` and less
/// than 4 · words. `words` is 2 or 4.
template <int element, int words>
__device__ void shift_words(const std::uint32_t (&from)[2 * words], unsigned shift,
                            std::uint32_t (&to)[words]) {
    std::uint32_t x[2 * words];
#pragma unroll
    for (int i = 0; i < 2 * words; ++i) {
        x[i] = from[i];
    }
    if constexpr (words == 4) {
#pragma unroll
        for (int i = 0; i < words + 2; ++i) {
            x[i] = (shift & 8U) != 0 ? x[i + 2] : x[i];
        }
    }
    if constexpr (element <= 4) {
#pragma unroll
        for (int i = 0; i < words + 1; ++i) {
            x[i] = (shift & 4U) != 0 ? x[i + 1] : x[i];
        }
    }
#pragma unroll
    for (int i = 0; i < words; ++i) {
        to[i] = element < 4 ? __funnelshift_r(x[i], x[i + 1], 8 * (shift & 3U)) : x[i];
    }
}

/// 16 bytes that begin `shift` bytes into `low` and continue in `high`.
template <int element>
__device__ uint4 shifted(const uint4& low, const uint4& high, unsigned shift) {
    const std::uint32_t from[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    std::uint32_t to[4];
    shift_words<element, 4>(from, shift, to);
    return make_uint4(to[0], to[1], to[2], to[3]);
}

/// How far an address is beyond the last multiple of `bytes`.
__device__ inline unsigned beyond(const std::byte* place, unsigned bytes) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(place)) & (bytes - 1);
}

/// Stores those of the 16 bytes at `to`, an aligned address, whose numbers are in [first, end),
/// an element at a time; both are multiples of `element` away from the bytes' begin.
template <int element>
__device__ void store_elements(std::byte* to, const uint4& value, int first, int end) {
    const std::uint32_t words[4] = {value.x, value.y, value.z, value.w};
#pragma unroll
    for (int k = 0; k < 16; k += element) {
        if (k < first || k + element > end) {
            continue;
        }
        if constexpr (element == 8) {
            *reinterpret_cast<uint2*>(to + k) = uint2{words[k / 4], words[k / 4 + 1]};
        } else {
            *reinterpret_cast<Word<element>*>(to + k) =
                static_cast<Word<element>>(words[k / 4] >> (8 * (k % 4)));
        }
    }
}

} // namespace runner::transpose_cuda
