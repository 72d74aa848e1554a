// SPDX-License-Identifier: BSD-3-Clause
// Tiles keep arrays of vectors, which vectors of a length unknown to the compiler cannot be in.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/transpose/transpose_tile.cpp"
#include <hwy/foreach_target.h>

#include "kernels/transpose/transpose_tile.hpp"

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
/// Block k of 16 bytes of the result is what lies at `at` in row k · step.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const std::byte* const* rows, std::int64_t step,
                                  std::int64_t at) {
    constexpr std::size_t bytes = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>);
    if constexpr (bytes == 16) {
        return hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(rows[0] + at));
    } else {
        const hn::Half<D> half;
        constexpr auto blocks = static_cast<std::int64_t>(bytes / 16);
        return hn::Combine(d, load_blocks(half, rows + blocks / 2 * step, step, at),
                           load_blocks(half, rows, step, at));
    }
}

/// Block k of 16 bytes of the result is what lies k · step bytes after `from`.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const std::byte* from, std::int64_t step) {
    constexpr std::size_t bytes = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>);
    if constexpr (bytes == 16) {
        return hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(from));
    } else {
        const hn::Half<D> half;
        constexpr auto blocks = static_cast<std::int64_t>(bytes / 16);
        return hn::Combine(d, load_blocks(half, from + blocks / 2 * step, step),
                           load_blocks(half, from, step));
    }
}

/// Block k of 16 bytes goes to k · step bytes after `to`.
template <class D>
HWY_INLINE void store_blocks(D d, hn::Vec<D> value, std::byte* to, std::int64_t step) {
    constexpr std::size_t bytes = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>);
    if constexpr (bytes == 16) {
        hn::StoreU(value, d, reinterpret_cast<hn::TFromD<D>*>(to));
    } else {
        const hn::Half<D> half;
        constexpr auto blocks = static_cast<std::int64_t>(bytes / 16);
        store_blocks(half, hn::LowerHalf(half, value), to, step);
        store_blocks(half, hn::UpperHalf(half, value), to + blocks / 2 * step, step);
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

/// 16 bytes, `at` bytes into each of so many input rows that a vector of D holds an element of all
/// of them, become a vector in each of the output rows.
template <class D>
HWY_INLINE void exchange_piece(D d, const std::byte* const* in_rows, std::int64_t at,
                               std::byte* out, std::int64_t out_pitch) {
    using T = hn::TFromD<D>;
    constexpr int n = 16 / static_cast<int>(sizeof(T));
    hn::Vec<D> rows[n];
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) {
        rows[i] = load_blocks(d, in_rows + i, n, at);
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
template <class T>
HWY_INLINE void exchange_tile(const TransposeTile& tile, std::byte* out, std::int64_t out_pitch) {
    const hn::ScalableTag<T> wide;
    const hn::FixedTag<T, 16 / sizeof(T)> block;
    constexpr auto e = static_cast<std::int64_t>(sizeof(T));
    constexpr std::int64_t columns = 16 / e;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(wide));
    std::int64_t b = 0;
    for (; b + lanes <= tile.b; b += lanes) {
        const std::byte* const* rows = tile.in_rows + b;
        for (std::int64_t i = 0; i < lanes; ++i) {
            for (std::int64_t at = 0; at < tile.ahead; at += 64) {
                hwy::Prefetch(rows[i] + tile.in_offset + tile.a * e + at);
            }
        }
        in_steps(tile.a, columns, [&](std::int64_t a) HWY_ATTR {
            exchange_piece(wide, rows, tile.in_offset + a * e, out + a * out_pitch + b * e,
                           out_pitch);
        });
    }
    for (; b < tile.b; b += columns) {
        const std::int64_t first = HWY_MIN(b, tile.b - columns);
        in_steps(tile.a, columns, [&](std::int64_t a) HWY_ATTR {
            exchange_piece(block, tile.in_rows + first, tile.in_offset + a * e,
                           out + a * out_pitch + first * e, out_pitch);
        });
    }
}

/// Vectors of the result are gathered from all of the source: tables say from where.
template <class Load, class Store>
HWY_INLINE void look_up(const PointTables& tables, const Load& load, const Store& store) {
    const hn::ScalableTag<std::uint8_t> d;
    const std::int64_t n = tables.components();
    hn::Vec<decltype(d)> from[PointTables::most_components];
    for (std::int64_t k = 0; k < n; ++k) {
        from[k] = load(k);
    }
    for (std::int64_t j = 0; j < n; ++j) {
        auto sum = hn::Zero(d);
        for (std::int64_t k = 0; k < n; ++k) {
            const auto places = hn::LoadDup128(d, tables.places(j, k));
            sum = hn::Or(sum, hn::TableLookupBytesOr0(from[k], places));
        }
        store(j, sum);
    }
}

/// Points that `look_up` takes at once.
HWY_INLINE std::int64_t points_at_once(const PointTables& tables) {
    return static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<std::uint8_t>())) /
           tables.element_bytes();
}
#endif

void split_of(const PointTables& tables, const std::byte* points, std::byte* const* rows,
              std::int64_t count) {
    const std::int64_t e = tables.element_bytes();
    const std::int64_t point = e * tables.components();
    std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<std::uint8_t> d;
    for (const std::int64_t step = points_at_once(tables); i + step <= count; i += step) {
        look_up(
            tables,
            [&](std::int64_t k) HWY_ATTR {
                return load_blocks(d, points + i * point + 16 * k, 16 * tables.components());
            },
            [&](std::int64_t j, auto value) HWY_ATTR {
                hn::StoreU(value, d, reinterpret_cast<std::uint8_t*>(rows[j] + i * e));
            });
    }
#endif
    for (; i < count; ++i) {
        for (std::int64_t j = 0; j < tables.components(); ++j) {
            std::memcpy(rows[j] + i * e, points + i * point + j * e, static_cast<std::size_t>(e));
        }
    }
}

void join_of(const PointTables& tables, const std::byte* const* rows, std::byte* points,
             std::int64_t count) {
    const std::int64_t e = tables.element_bytes();
    const std::int64_t point = e * tables.components();
    std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<std::uint8_t> d;
    for (const std::int64_t step = points_at_once(tables); i + step <= count; i += step) {
        look_up(
            tables,
            [&](std::int64_t k) HWY_ATTR {
                return hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(rows[k] + i * e));
            },
            [&](std::int64_t j, auto value) HWY_ATTR {
                store_blocks(d, value, points + i * point + 16 * j, 16 * tables.components());
            });
    }
#endif
    for (; i < count; ++i) {
        for (std::int64_t j = 0; j < tables.components(); ++j) {
            std::memcpy(points + i * point + j * e, rows[j] + i * e, static_cast<std::size_t>(e));
        }
    }
}

/// The tile an element at a time, out row a at row(a).
template <class T, class Row>
HWY_INLINE void move_elements(const TransposeTile& tile, const Row& row) {
    constexpr auto e = static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t a = 0; a < tile.a; ++a) {
        std::byte* to = row(a);
        for (std::int64_t b = 0; b < tile.b; ++b) {
            std::memcpy(to + b * e, tile.in_rows[b] + tile.in_offset + a * e, sizeof(T));
        }
    }
}

HWY_INLINE void stream_run(std::byte* to, const std::byte* from, std::int64_t bytes) {
    const hn::ScalableTag<std::uint8_t> d;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d));
    constexpr std::uintptr_t line = 64;
    const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % line);
    const std::int64_t head =
        HWY_MIN(past == 0 ? 0 : static_cast<std::int64_t>(line) - past, bytes);
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
    constexpr std::int64_t pitch = TransposeTile::space_pitch;
    if (tile.b * e < 16) {
        move_elements<T>(tile, [&](std::int64_t a) { return tile.out_rows[a]; });
        return;
    }
    if constexpr (e == 16 || HWY_TARGET == HWY_SCALAR) {
        move_elements<T>(tile, [&](std::int64_t a) { return space + a * pitch; });
    } else if (tile.a * e < 16) {
        move_elements<T>(tile, [&](std::int64_t a) { return space + a * pitch; });
    } else {
        exchange_tile<T>(tile, space, pitch);
    }
    for (std::int64_t a = 0; a < tile.a; ++a) {
        put_run(tile.out_rows[a], space + a * pitch, tile.b * e, stores);
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
HWY_EXPORT(split_of);
HWY_EXPORT(join_of);

PointTables::PointTables(Direction direction, std::int64_t element_bytes, std::int64_t components)
    : element_bytes_(element_bytes), components_(components) {
    tables_.fill(128);
    // Byte `at` of a group of points is of some component; there it is in a row of so many points.
    for (std::int64_t at = 0; at < 16 * components; ++at) {
        const std::int64_t element = at / element_bytes;
        const std::int64_t component = element % components;
        const std::int64_t within_row = element / components * element_bytes + at % element_bytes;
        const bool split = direction == Direction::split;
        const std::int64_t to = split ? component : at / 16;
        const std::int64_t from = split ? at / 16 : component;
        const std::int64_t place = split ? at % 16 : within_row;
        const std::int64_t target = split ? within_row : at % 16;
        tables_[static_cast<std::size_t>((to * components + from) * 16 + target)] =
            static_cast<std::uint8_t>(place);
    }
}

void split_points(const PointTables& tables, const std::byte* points, std::byte* const* rows,
                  std::int64_t count) {
    HWY_DYNAMIC_DISPATCH(split_of)(tables, points, rows, count);
}

void join_points(const PointTables& tables, const std::byte* const* rows, std::byte* points,
                 std::int64_t count) {
    HWY_DYNAMIC_DISPATCH(join_of)(tables, rows, points, count);
}

void transpose_tile(int element_bytes, const TransposeTile& tile, std::byte* space, Stores stores) {
    HWY_DYNAMIC_DISPATCH(tile_of)(element_bytes, tile, space, stores);
}

void copy_run(std::byte* to, const std::byte* from, std::int64_t bytes, Stores stores) {
    HWY_DYNAMIC_DISPATCH(run_of)(to, from, bytes, stores);
}

void finish_stores() { hwy::FlushStream(); }

} // namespace runner
#endif
