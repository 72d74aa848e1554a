// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/divisor.hpp"

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

namespace runner::transpose_cuda {

/// A type of so many bytes that is moved by one instruction.
template <int bytes> struct WordOf;
template <> struct WordOf<1> { using type = std::uint8_t; };
template <> struct WordOf<2> { using type = std::uint16_t; };
template <> struct WordOf<4> { using type = std::uint32_t; };
template <> struct WordOf<8> { using type = uint2; };
template <> struct WordOf<16> { using type = uint4; };
template <int bytes> using Word = typename WordOf<bytes>::type;

/// Whether bytes pass through the caches once: then they should not drive out what will be used.
enum class Use { once, again };

template <Use use, class T> __device__ T load(const std::byte* from) {
    const T* place = reinterpret_cast<const T*>(from);
    if constexpr (use == Use::once) {
        return __ldcs(place);
    } else {
        return __ldg(place);
    }
}

template <Use use, class T> __device__ void store(std::byte* to, T value) {
    T* place = reinterpret_cast<T*>(to);
    if constexpr (use == Use::once) {
        __stcs(place, value);
    } else {
        *place = value;
    }
}

/// Input that may be read: whole words around unaligned ones lie in it or are read byte by byte.
struct Readable {
    const std::byte* begin;
    const std::byte* end;
};

/// The four bytes at any address; bytes outside of `readable` are 0.
__device__ inline std::uint32_t load_unaligned(const std::byte* from, const Readable& readable) {
    const auto shift = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) & 3U);
    const std::byte* word = from - shift;
    if (word >= readable.begin && word + 8 <= readable.end) {
        const auto low = load<Use::again, std::uint32_t>(word);
        const auto high = shift == 0 ? 0U : load<Use::again, std::uint32_t>(word + 4);
        return __funnelshift_r(low, high, 8 * shift);
    }
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
        if (from + i >= readable.begin && from + i < readable.end) {
            value |= static_cast<std::uint32_t>(from[i]) << (8 * i);
        }
    }
    return value;
}

/// Copies 16 bytes of which some may not be read.
__device__ inline void copy_readable(std::byte* to, const std::byte* from,
                                     const Readable& readable) {
    for (int i = 0; i < 16; ++i) {
        if (from + i >= readable.begin && from + i < readable.end) {
            to[i] = from[i];
        }
    }
}

} // namespace runner::transpose_cuda
