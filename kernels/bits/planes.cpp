// SPDX-License-Identifier: BSD-3-Clause
// Arrays of vectors cannot hold vectors of a length unknown to the compiler.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/bits/planes.cpp"
#include <hwy/foreach_target.h>

#include "kernels/bits/planes.hpp"

#include <algorithm>
#include <cstring>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
/// Exchanges the bits of `mask` in the upper byte with those `shift` above them in the lower one.
template <int shift, class V> HWY_INLINE void swap_bits(V& low, V& high, V mask) {
    const V change = hn::And(hn::Xor(hn::ShiftRight<shift>(low), high), mask);
    high = hn::Xor(high, change);
    low = hn::Xor(low, hn::ShiftLeft<shift>(change));
}

/// Eight bytes are a matrix of 8 × 8 bits: exchanges its rows and columns, in each lane by itself.
template <class D> HWY_INLINE void exchange_bits(D d, hn::Vec<D> (&v)[8]) {
    const auto fours = hn::Set(d, 0x0f);
    const auto twos = hn::Set(d, 0x33);
    const auto ones = hn::Set(d, 0x55);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        swap_bits<4>(v[i], v[i + 4], fours);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        const int at = i % 2 + i / 2 * 4;
        swap_bits<2>(v[at], v[at + 2], twos);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        swap_bits<1>(v[2 * i], v[2 * i + 1], ones);
    }
}

/// Interleaves a and b in units of `Lane` within each block of 16 bytes.
template <class Lane, class D>
HWY_INLINE void zip(D d, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D>& low, hn::Vec<D>& high) {
    const hn::Repartition<Lane, D> wide;
    const auto wide_a = hn::BitCast(wide, a);
    const auto wide_b = hn::BitCast(wide, b);
    low = hn::BitCast(d, hn::InterleaveLower(wide, wide_a, wide_b));
    high = hn::BitCast(d, hn::InterleaveUpper(wide, wide_a, wide_b));
}

/// Stores vectors whose blocks k of 16 bytes, taken over all vectors, follow one another.
template <int n, class D> HWY_INLINE void store_blocks(D d, hn::Vec<D> (&v)[n], std::uint8_t* to) {
    if constexpr (hn::MaxLanes(D()) == 16) {
#pragma GCC unroll 8
        for (int i = 0; i < n; ++i) {
            hn::StoreU(v[i], d, to + std::ptrdiff_t{16} * i);
        }
    } else {
        static_assert(hn::MaxLanes(D()) == 32);
#pragma GCC unroll 8
        for (int i = 0; i < n; i += 2) {
            hn::StoreU(hn::ConcatLowerLower(d, v[i + 1], v[i]), d, to + std::ptrdiff_t{16} * i);
            hn::StoreU(hn::ConcatUpperUpper(d, v[i + 1], v[i]), d,
                       to + std::ptrdiff_t{16} * (n + i));
        }
    }
}

/// Stores byte 0 of each vector, then byte 1 of each, and so on.
template <class D> HWY_INLINE void store_in_turn(D d, hn::Vec<D> (&v)[2], std::uint8_t* to) {
    hn::Vec<D> out[2];
    zip<std::uint8_t>(d, v[0], v[1], out[0], out[1]);
    store_blocks(d, out, to);
}

template <class D> HWY_INLINE void store_in_turn(D d, hn::Vec<D> (&v)[4], std::uint8_t* to) {
    hn::Vec<D> pairs[4];
    zip<std::uint8_t>(d, v[0], v[1], pairs[0], pairs[1]);
    zip<std::uint8_t>(d, v[2], v[3], pairs[2], pairs[3]);
    hn::Vec<D> out[4];
    zip<std::uint16_t>(d, pairs[0], pairs[2], out[0], out[1]);
    zip<std::uint16_t>(d, pairs[1], pairs[3], out[2], out[3]);
    store_blocks(d, out, to);
}

template <class D> HWY_INLINE void store_in_turn(D d, hn::Vec<D> (&v)[8], std::uint8_t* to) {
    hn::Vec<D> pairs[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 2) {
        zip<std::uint8_t>(d, v[i], v[i + 1], pairs[i], pairs[i + 1]);
    }
    hn::Vec<D> fours[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 4) {
        zip<std::uint16_t>(d, pairs[i], pairs[i + 2], fours[i], fours[i + 1]);
        zip<std::uint16_t>(d, pairs[i + 1], pairs[i + 3], fours[i + 2], fours[i + 3]);
    }
    hn::Vec<D> out[8];
#pragma GCC unroll 8
    for (int i = 0; i < 4; ++i) {
        zip<std::uint32_t>(d, fours[i], fours[i + 4], out[2 * i], out[2 * i + 1]);
    }
    store_blocks(d, out, to);
}

#endif

template <int size>
void join_sized(const std::uint8_t* from, std::int64_t count, std::uint8_t* to) {
    std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::CappedTag<std::uint8_t, 32> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; i + lanes <= count; i += lanes) {
        hn::Vec<decltype(d)> planes[size];
#pragma GCC unroll 8
        for (int b = 0; b < size; ++b) {
            planes[b] = hn::LoadU(d, from + b * count + i);
        }
        store_in_turn(d, planes, to + i * size);
    }
#endif
    for (; i < count; ++i) {
#pragma GCC unroll 8
        for (int b = 0; b < size; ++b) {
            to[i * size + b] = from[b * count + i];
        }
    }
}

void join(const std::uint8_t* from, std::int64_t count, std::int64_t size, std::uint8_t* to) {
    switch (size) {
    case 1: std::copy_n(from, count, to); return;
    case 2: return join_sized<2>(from, count, to);
    case 4: return join_sized<4>(from, count, to);
    case 8: return join_sized<8>(from, count, to);
    default:
        for (std::int64_t i = 0; i < count; ++i) {
            for (std::int64_t b = 0; b < size; ++b) {
                to[i * size + b] = from[b * count + i];
            }
        }
    }
}

template <int size>
void split_sized(const std::uint8_t* from, std::int64_t count, std::uint8_t* to) {
    std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::CappedTag<std::uint8_t, 32> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; i + lanes <= count; i += lanes) {
        hn::Vec<decltype(d)> v[4];
        if constexpr (size == 2) {
            hn::LoadInterleaved2(d, from + i * size, v[0], v[1]);
        } else {
            hn::LoadInterleaved4(d, from + i * size, v[0], v[1], v[2], v[3]);
        }
#pragma GCC unroll 8
        for (int b = 0; b < size; ++b) {
            hn::StoreU(v[b], d, to + b * count + i);
        }
    }
#endif
    for (; i < count; ++i) {
#pragma GCC unroll 8
        for (int b = 0; b < size; ++b) {
            to[b * count + i] = from[i * size + b];
        }
    }
}

void split(const std::uint8_t* from, std::int64_t count, std::int64_t size, std::uint8_t* to) {
    switch (size) {
    case 1: std::copy_n(from, count, to); return;
    case 2: return split_sized<2>(from, count, to);
    case 4: return split_sized<4>(from, count, to);
    default: break;
    }
    // In pieces that stay in the nearest cache while their bytes are picked out plane by plane.
    constexpr std::int64_t piece = 1024;
    for (std::int64_t begin = 0; begin < count; begin += piece) {
        const std::int64_t end = std::min(begin + piece, count);
        for (std::int64_t b = 0; b < size; ++b) {
            for (std::int64_t i = begin; i < end; ++i) {
                to[b * count + i] = from[i * size + b];
            }
        }
    }
}

/// One byte plane of `count` elements from its eight bit planes.
void join_plane(const std::uint8_t* from, std::int64_t count, std::uint8_t* to) {
    const std::int64_t bytes = count / 8; // of a bit plane
    std::int64_t j = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::CappedTag<std::uint8_t, 32> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; j + lanes <= bytes; j += lanes) {
        hn::Vec<decltype(d)> v[8];
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k) {
            v[k] = hn::LoadU(d, from + k * bytes + j);
        }
        exchange_bits(d, v);
        store_in_turn(d, v, to + 8 * j);
    }
#endif
    for (; j < bytes; ++j) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
            unsigned byte = 0;
#pragma GCC unroll 8
            for (int k = 0; k < 8; ++k) {
                byte |= (from[k * bytes + j] >> i & 1U) << k;
            }
            to[8 * j + i] = static_cast<std::uint8_t>(byte);
        }
    }
}

void split_plane(const std::uint8_t* from, std::int64_t count, std::uint8_t* to) {
    const std::int64_t bytes = count / 8;
    std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::CappedTag<std::int8_t, 32> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; i + lanes <= count; i += lanes) {
        auto v = hn::LoadU(d, reinterpret_cast<const std::int8_t*>(from) + i);
#pragma GCC unroll 8
        for (int k = 7; k >= 0; --k) {
            std::uint8_t bits[8]; // Highway writes eight, whatever the vector's length
            hn::StoreMaskBits(d, hn::Lt(v, hn::Zero(d)), bits);
            std::memcpy(to + k * bytes + i / 8, bits, hn::MaxLanes(d) / 8);
            v = hn::Add(v, v);
        }
    }
#endif
    for (; i < count; i += 8) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k) {
            unsigned byte = 0;
            for (int e = 0; e < 8; ++e) {
                byte |= (from[i + e] >> k & 1U) << e;
            }
            to[k * bytes + i / 8] = static_cast<std::uint8_t>(byte);
        }
    }
}

void join_all_bits(const std::uint8_t* from, std::int64_t count, std::int64_t size,
                   std::uint8_t* to, std::uint8_t* scratch) {
    std::uint8_t* const planes = size == 1 ? to : scratch;
    for (std::int64_t b = 0; b < size; ++b) {
        join_plane(from + b * count, count, planes + b * count);
    }
    if (size > 1) {
        join(planes, count, size, to);
    }
}

void split_all_bits(const std::uint8_t* from, std::int64_t count, std::int64_t size,
                    std::uint8_t* to, std::uint8_t* scratch) {
    if (size > 1) {
        split(from, count, size, scratch);
        from = scratch;
    }
    for (std::int64_t b = 0; b < size; ++b) {
        split_plane(from + b * count, count, to + b * count);
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {
namespace {

HWY_EXPORT(join);
HWY_EXPORT(split);
HWY_EXPORT(join_all_bits);
HWY_EXPORT(split_all_bits);

const std::uint8_t* in(const std::byte* bytes) {
    return reinterpret_cast<const std::uint8_t*>(bytes);
}
std::uint8_t* out(std::byte* bytes) { return reinterpret_cast<std::uint8_t*>(bytes); }

} // namespace

void split_bytes(const std::byte* from, std::int64_t count, std::int64_t size, std::byte* to) {
    HWY_DYNAMIC_DISPATCH(split)(in(from), count, size, out(to));
}

void join_bytes(const std::byte* from, std::int64_t count, std::int64_t size, std::byte* to) {
    HWY_DYNAMIC_DISPATCH(join)(in(from), count, size, out(to));
}

void split_bits(const std::byte* from, std::int64_t count, std::int64_t size, std::byte* to,
                std::byte* scratch) {
    HWY_DYNAMIC_DISPATCH(split_all_bits)(in(from), count, size, out(to), out(scratch));
}

void join_bits(const std::byte* from, std::int64_t count, std::int64_t size, std::byte* to,
               std::byte* scratch) {
    HWY_DYNAMIC_DISPATCH(join_all_bits)(in(from), count, size, out(to), out(scratch));
}

} // namespace runner
#endif // HWY_ONCE
