// SPDX-License-Identifier: BSD-3-Clause
// Tiles keep arrays of vectors, which vectors of a length unknown to the compiler cannot be in.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/transpose_tile.cpp"
#include <hwy/foreach_target.h>

#include "kernels/transpose_tile.hpp"

#include <algorithm>
#include <cstring>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// An element of 16 bytes, which is moved and never exchanged within a vector.
struct Wide {
    std::uint64_t half[2];
};

#if HWY_TARGET != HWY_SCALAR
/// Block k of 16 bytes of the result is what lies k · step bytes after `from`.
template <class D> HWY_INLINE hn::Vec<D> load_blocks(D d, const std::byte* from, std::int64_t step) {
    constexpr std::size_t bytes = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>);
    if constexpr (bytes == 16) {
        return hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(from));
    } else {
        const hn::Half<D> half;
        const auto blocks = static_cast<std::int64_t>(bytes / 16);
        return hn::Combine(d, load_blocks(half, from + blocks / 2 * step, step),
                           load_blocks(half, from, step));
    }
}

/// Exchanges rows and columns of the square of elements in every block of 16 bytes: as many
/// vectors as a block has elements.
template <int n, class D> HWY_INLINE void exchange(D d, hn::Vec<D> (&rows)[n]) {
#pragma GCC unroll 4
    for (int stage = 1; stage < n; stage *= 2) {
        hn::Vec<D> next[n];
#pragma GCC unroll 16
        for (int i = 0; i < n / 2; ++i) {
            next[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + n / 2]);
            next[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + n / 2]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < n; ++i) {
            rows[i] = next[i];
        }
    }
}

/// 16 bytes of each of so many input rows that a vector of D holds an element of all of them become
/// a vector in each of the output rows.
template <class D> HWY_INLINE void exchange_piece(D d, const std::byte* in, std::int64_t in_pitch,
                                                  std::byte* out, std::int64_t out_pitch) {
    using T = hn::TFromD<D>;
    constexpr int n = 16 / static_cast<int>(sizeof(T));
    hn::Vec<D> rows[n];
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) {
        rows[i] = load_blocks(d, in + i * in_pitch, n * in_pitch);
    }
    exchange<n>(d, rows);
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) {
        hn::StoreU(rows[i], d, reinterpret_cast<T*>(out + i * out_pitch));
    }
}

/// Goes along an extent in steps; the last one overlaps the one before where no whole step is left.
template <class Step>
HWY_INLINE void in_steps(std::int64_t extent, std::int64_t step, const Step& work) {
    std::int64_t i = 0;
    for (; i + step <= extent; i += step) {
        work(i);
    }
    if (i < extent) {
        work(extent - step);
    }
}

/// The tile into `out` where both extents are 16 bytes at least.
template <class T> HWY_INLINE void exchange_tile(const TransposeTile& tile, std::byte* out,
                                                 std::int64_t out_pitch) {
    const hn::ScalableTag<T> wide;
    const hn::FixedTag<T, 16 / sizeof(T)> block;
    constexpr auto e = static_cast<std::int64_t>(sizeof(T));
    constexpr std::int64_t columns = 16 / e;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(wide));
    std::int64_t b = 0;
    for (; b + lanes <= tile.b; b += lanes) {
        const std::byte* in = tile.in + b * tile.in_pitch;
        in_steps(tile.a, columns, [&](std::int64_t a) HWY_ATTR {
            exchange_piece(wide, in + a * e, tile.in_pitch, out + a * out_pitch + b * e, out_pitch);
        });
    }
    for (; b < tile.b; b += columns) {
        const std::int64_t first = HWY_MIN(b, tile.b - columns);
        const std::byte* in = tile.in + first * tile.in_pitch;
        in_steps(tile.a, columns, [&](std::int64_t a) HWY_ATTR {
            exchange_piece(block, in + a * e, tile.in_pitch, out + a * out_pitch + first * e,
                           out_pitch);
        });
    }
}

#endif

template <class T>
HWY_INLINE void move_elements(const TransposeTile& tile, std::byte* out, std::int64_t out_pitch) {
    constexpr auto e = static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t a = 0; a < tile.a; ++a) {
        const std::byte* in = tile.in + a * e;
        std::byte* to = out + a * out_pitch;
        for (std::int64_t b = 0; b < tile.b; ++b) {
            std::memcpy(to + b * e, in + b * tile.in_pitch, sizeof(T));
        }
    }
}

HWY_INLINE void stream_run(std::byte* to, const std::byte* from, std::int64_t bytes) {
    const hn::ScalableTag<std::uint8_t> d;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d));
    constexpr std::uintptr_t line = 64;
    const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % line);
    const std::int64_t head = HWY_MIN(past == 0 ? 0 : static_cast<std::int64_t>(line) - past, bytes);
    std::memcpy(to, from, static_cast<std::size_t>(head));
    std::int64_t i = head;
    for (; i + static_cast<std::int64_t>(line) <= bytes; i += static_cast<std::int64_t>(line)) {
        for (std::int64_t k = 0; k < static_cast<std::int64_t>(line); k += step) {
            hn::Stream(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + i + k)), d,
                       reinterpret_cast<std::uint8_t*>(to + i + k));
        }
    }
    std::memcpy(to + i, from + i, static_cast<std::size_t>(bytes - i));
}

HWY_INLINE void put_run(std::byte* to, const std::byte* from, std::int64_t bytes, Stores stores) {
    if (stores == Stores::streaming) {
        stream_run(to, from, bytes);
    } else {
        std::memcpy(to, from, static_cast<std::size_t>(bytes));
    }
}

template <class T>
HWY_INLINE void tile_of_type(const TransposeTile& tile, std::byte* space, Stores stores) {
    constexpr auto e = static_cast<std::int64_t>(sizeof(T));
    if (tile.b * e < 16) {
        move_elements<T>(tile, tile.out, tile.out_pitch);
        return;
    }
    if constexpr (e == 16 || HWY_TARGET == HWY_SCALAR) {
        move_elements<T>(tile, space, TransposeTile::space_pitch);
    } else if (tile.a * e < 16) {
        move_elements<T>(tile, space, TransposeTile::space_pitch);
    } else {
        exchange_tile<T>(tile, space, TransposeTile::space_pitch);
    }
    for (std::int64_t a = 0; a < tile.a; ++a) {
        put_run(tile.out + a * tile.out_pitch, space + a * TransposeTile::space_pitch, tile.b * e,
                stores);
    }
}

void tile_of(int element_bytes, const TransposeTile& tile, std::byte* space, Stores stores) {
    switch (element_bytes) {
    case 1: return tile_of_type<std::uint8_t>(tile, space, stores);
    case 2: return tile_of_type<std::uint16_t>(tile, space, stores);
    case 4: return tile_of_type<std::uint32_t>(tile, space, stores);
    case 8: return tile_of_type<std::uint64_t>(tile, space, stores);
    default: return tile_of_type<Wide>(tile, space, stores);
    }
}

void run_of(std::byte* to, const std::byte* from, std::int64_t bytes, Stores stores) {
    put_run(to, from, bytes, stores);
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(tile_of);
HWY_EXPORT(run_of);

void transpose_tile(int element_bytes, const TransposeTile& tile, std::byte* space, Stores stores) {
    HWY_DYNAMIC_DISPATCH(tile_of)(element_bytes, tile, space, stores);
}

void copy_run(std::byte* to, const std::byte* from, std::int64_t bytes, Stores stores) {
    HWY_DYNAMIC_DISPATCH(run_of)(to, from, bytes, stores);
}

void finish_stores() { hwy::FlushStream(); }

} // namespace runner
#endif
