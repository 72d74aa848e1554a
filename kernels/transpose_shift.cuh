// SPDX-License-Identifier: BSD-3-Clause
// Bytes at any address by aligned accesses: two neighbours are read and shifted into one.
#pragma once

#include "kernels/transpose_device.cuh"

#include <cstddef>
#include <cstdint>

namespace runner {

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

/// 16 bytes that begin `shift` bytes into `low` and go on in `high`.
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

/// One of four words; a chain of selections, so that they stay in registers.
__device__ inline std::uint32_t word_of(const uint4& value, int index) {
    const std::uint32_t low = (index & 1) != 0 ? value.y : value.x;
    const std::uint32_t high = (index & 1) != 0 ? value.w : value.z;
    return (index & 2) != 0 ? high : low;
}

/// Stores the first `count` of the 16 bytes at `to`, an aligned address, in pieces of 8, 4, 2, 1.
template <int element> __device__ void store_begin(std::byte* to, const uint4& value, int count) {
    if ((count & 8) != 0) {
        *reinterpret_cast<uint2*>(to) = uint2{value.x, value.y};
    }
    if constexpr (element <= 4) {
        if ((count & 4) != 0) {
            *reinterpret_cast<std::uint32_t*>(to + (count & 8)) =
                (count & 8) != 0 ? value.z : value.x;
        }
    }
    if constexpr (element <= 2) {
        const std::uint32_t last = word_of(value, count >> 2);
        if ((count & 2) != 0) {
            *reinterpret_cast<std::uint16_t*>(to + (count & 12)) = static_cast<std::uint16_t>(last);
        }
        if (element == 1 && (count & 1) != 0) {
            to[count & 14] = static_cast<std::byte>(last >> (8 * (count & 2)));
        }
    }
}

/// Stores the last `count` of the 16 bytes at `to`.
template <int element> __device__ void store_end(std::byte* to, const uint4& value, int count) {
    if constexpr (element <= 2) {
        const int first = 16 - count;
        const std::uint32_t word = word_of(value, first >> 2);
        if (element == 1 && (count & 1) != 0) {
            to[first] = static_cast<std::byte>(word >> (8 * (first & 3)));
        }
        if ((count & 2) != 0) {
            *reinterpret_cast<std::uint16_t*>(to + first + (count & 1)) =
                static_cast<std::uint16_t>(word >> 16);
        }
    }
    if constexpr (element <= 4) {
        if ((count & 4) != 0) {
            *reinterpret_cast<std::uint32_t*>(to + 16 - (count & 12)) =
                (count & 8) != 0 ? value.y : value.w;
        }
    }
    if ((count & 8) != 0) {
        *reinterpret_cast<uint2*>(to + 8) = uint2{value.z, value.w};
    }
}

/// Stores those of the 16 bytes at `to`, an aligned address, whose numbers are in [first, end), not
/// all of them; both are multiples of `element` away from the bytes' begin.
template <int element>
__device__ void store_part(std::byte* to, const uint4& value, int first, int end) {
    if (first == 0) {
        store_begin<element>(to, value, end);
    } else if (end == 16) {
        store_end<element>(to, value, 16 - first);
    } else {
        for (int k = first; k < end; k += element) {
            if constexpr (element == 8) {
                *reinterpret_cast<uint2*>(to + k) =
                    k == 0 ? uint2{value.x, value.y} : uint2{value.z, value.w};
            } else {
                *reinterpret_cast<Word<element>*>(to + k) =
                    static_cast<Word<element>>(word_of(value, k >> 2) >> (8 * (k & 3)));
            }
        }
    }
}

} // namespace runner
