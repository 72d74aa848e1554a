// SPDX-License-Identifier: BSD-3-Clause
// The vector loops of the median. Included once for every vector set, as Highway wants it; hence no
// #pragma once.
#if defined(RUNNER_KERNELS_MEDIAN_TILE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNNER_KERNELS_MEDIAN_TILE_INL_HPP
#undef RUNNER_KERNELS_MEDIAN_TILE_INL_HPP
#else
#define RUNNER_KERNELS_MEDIAN_TILE_INL_HPP
#endif

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <hwy/highway.h>

#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"
#include "kernels/elements/ordered_key.hpp"
#include "kernels/median/median_network.hpp"
#include "kernels/median/median_tile.hpp"

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Runs a network of MedianNetworks on vectors: `load(i)` gives input i, `store(i, v)` takes output
/// i.
template <const MedianNetwork& net, class D, class Load, class Store, std::size_t... inputs,
          std::size_t... steps, std::size_t... outputs>
HWY_INLINE void run_network(D /*d*/, const Load& load, const Store& store,
                            std::index_sequence<inputs...> /*inputs*/,
                            std::index_sequence<steps...> /*steps*/,
                            std::index_sequence<outputs...> /*outputs*/) {
    hn::Vec<D> v[sizeof...(inputs) + sizeof...(steps)];
    ((v[inputs] = load(inputs)), ...);
    ((v[sizeof...(inputs) + steps] = net.step[steps].is_max
                                         ? hn::Max(v[net.step[steps].a], v[net.step[steps].b])
                                         : hn::Min(v[net.step[steps].a], v[net.step[steps].b])),
     ...);
    (store(outputs, v[net.output[outputs]]), ...);
}

template <const MedianNetwork& net, class D, class Load, class Store>
HWY_INLINE void run_network(D d, const Load& load, const Store& store) {
    run_network<net>(d, load, store, std::make_index_sequence<net.inputs>(),
                     std::make_index_sequence<net.steps>(),
                     std::make_index_sequence<net.outputs>());
}

/// Keys of elements; those of 8 bits as 16.
template <class T, class Key> HWY_INLINE Key key_of(T element) {
    return static_cast<Key>(ordered_key(element));
}

/// One tile of elements T.
template <class T> class MedianTileWork {
  public:
    using Key = SignedOf<sizeof(T) == 1 ? 2 : sizeof(T)>;
    using D = hn::ScalableTag<Key>;

    MedianTileWork(const MedianTiles& tiles, const MedianTile& tile, std::byte* space)
        : tiles_(tiles), tile_(tile), is_invalid_(invalid_test<T>(tiles.invalid.value_or(0))),
          pitch_(median_pitch(tiles)), count_(tiles.extent_z() * tiles.extent_x()),
          space_(reinterpret_cast<Key*>(space)),
          in_(reinterpret_cast<const T*>(tiles.in) +
              tile.frame * tiles.call.in_rows * tiles.call.columns),
          out_(reinterpret_cast<T*>(tiles.out) +
               tile.frame * tiles.call.out_rows * tiles.call.columns) {}

    template <int count, int lines> void run_networks() {
        const int radius = tiles_.call.radius_y;
        std::int64_t made = 0; // lists of rows before first_row − radius + made
        const auto lists_to = [&](std::int64_t end) {
            for (; made < end; ++made) {
                sort_row<count>(made - radius, list_line(made, 0));
            }
        };
        for (std::int64_t row = 0; row < tile_.rows; row += 2) {
            // Beside an odd last row there is no other; rows that only that would need are not
            // there.
            lists_to(std::min(row + lines + 1, tile_.rows + lines - 1));
            find_pair<count, lines>(row);
            put_row(row, result_line(0));
            if (row + 1 < tile_.rows) {
                put_row(row + 1, result_line(1));
            }
        }
    }

    /// Any window: the bits of the median's key one by one, the highest first. Each is set where no
    /// more than half of the window's keys are below.
    void run_search() {
        const int lines = tiles_.extent_y();
        const int radius = tiles_.call.radius_y;
        std::int64_t made = 0;
        for (std::int64_t row = 0; row < tile_.rows; ++row) {
            for (; made < row + lines; ++made) {
                for (int z = 0; z < tiles_.extent_z(); ++z) {
                    fill_line(made - radius, z - tiles_.call.radius_z, window_line(made, z));
                }
            }
            search_row(row);
            put_row(row, result_line(0));
        }
    }

    /// How many were replaced of the rows that the call's tally takes.
    std::int64_t replaced() const { return replaced_; }

  private:
    Key* key_line(int z) { return space_ + z * pitch_; }
    Key* lists() { return space_ + tiles_.extent_z() * pitch_; }
    /// Line `i` of the sorted lists of the made-th row, in a ring of as many rows as a pair needs.
    Key* list_line(std::int64_t made, int i) {
        const std::int64_t slot = made % (tiles_.extent_y() + 1);
        return lists() + (slot * count_ + i) * pitch_;
    }
    Key* window_line(std::int64_t made, int z) {
        const std::int64_t slot = made % (tiles_.extent_y() + 1);
        return lists() + (slot * tiles_.extent_z() + z) * pitch_;
    }
    Key* result_line(int i) {
        return lists() + (std::int64_t{count_} * (tiles_.extent_y() + 1) + i) * pitch_;
    }

    /// The keys of the tile's columns and its margins in the row dy rows after the tile's first and
    /// dz layers away.
    void fill_line(std::int64_t dy, int dz, Key* to) {
        const MedianCall& call = tiles_.call;
        const std::int64_t layer = call.layer_of(tile_.first_row);
        const std::int64_t held =
            call.held_row(layer, tile_.first_row - layer * call.rows + dy, dz);
        const std::int64_t radius = call.radius_x;
        const Key fill = key_of<T, Key>(converted<T>(call.fill));
        const std::int64_t count = tile_.columns + 2 * radius;
        if (held < 0) {
            std::fill_n(to, count, fill);
            return;
        }
        const T* row = in_ + held * call.columns;
        const std::int64_t first = tile_.first_column - radius;
        const std::int64_t begin = std::clamp<std::int64_t>(-first, 0, count);
        const std::int64_t end = std::clamp<std::int64_t>(call.columns - first, begin, count);
        const auto beyond = [&](std::int64_t i) {
            const std::int64_t column = map_index(first + i, call.columns, call.boundary);
            to[i] = column < 0 ? fill : key_of<T, Key>(row[column]);
        };
        for (std::int64_t i = 0; i < begin; ++i) {
            beyond(i);
        }
        keys_of(row + first + begin, end - begin, to + begin);
        for (std::int64_t i = end; i < count; ++i) {
            beyond(i);
        }
        if (tiles_.invalid) {
            for (std::int64_t i = 0; i < count; ++i) {
                const std::int64_t column = map_index(first + i, call.columns, call.boundary);
                to[i] = column >= 0 && is_invalid_(row[column]) ? std::numeric_limits<Key>::min()
                                                                : to[i];
            }
        }
    }

    static HWY_NOINLINE void keys_of(const T* HWY_RESTRICT from, std::int64_t count,
                                     Key* HWY_RESTRICT to) {
        std::int64_t i = 0;
        if constexpr (sizeof(T) == sizeof(Key)) {
            const D d;
            const hn::RebindToUnsigned<D> bits;
            const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
            for (; i + lanes <= count; i += lanes) {
                const auto raw =
                    hn::BitCast(d, hn::LoadU(bits, reinterpret_cast<const Bits*>(from + i)));
                hn::StoreU(vector_key(d, raw), d, to + i);
            }
        }
        for (; i < count; ++i) {
            to[i] = key_of<T, Key>(from[i]);
        }
    }

    using Bits = std::make_unsigned_t<Key>;

    /// ordered_key() of elements of a key's size, from their bits.
    static HWY_INLINE hn::Vec<D> vector_key(D d, hn::Vec<D> raw) {
        using Limits = std::numeric_limits<Key>;
        if constexpr (std::is_floating_point_v<T>) {
            const auto most = hn::Set(d, Limits::max());
            const auto size = hn::And(raw, most);
            const auto infinity =
                hn::Set(d, static_cast<Key>(ordered_key(std::numeric_limits<T>::infinity())));
            const auto number = hn::IfThenElse(hn::Lt(raw, hn::Zero(d)), hn::Xor(raw, most), raw);
            return hn::IfThenElse(hn::Gt(size, infinity), most, number);
        } else if constexpr (std::is_unsigned_v<T>) {
            return hn::Xor(raw, hn::Set(d, Limits::min()));
        } else {
            return raw;
        }
    }

    /// The sorted lists of a row: of each column's elements in z and x.
    template <int count> void sort_row(std::int64_t dy, Key* to) {
        const int extent_x = count_ / tiles_.extent_z();
        const Key* from[count]; // NOLINT: filled below
        for (int z = 0; z < tiles_.extent_z(); ++z) {
            fill_line(dy, z - tiles_.call.radius_z, key_line(z));
            for (int x = 0; x < extent_x; ++x) {
                from[z * extent_x + x] = key_line(z) + x;
            }
        }
        sort_columns<count>(from, tile_.columns, to, pitch_);
    }

    template <int count>
    static HWY_NOINLINE void sort_columns(const Key* const (&from)[count], std::int64_t columns,
                                          Key* HWY_RESTRICT to, std::int64_t pitch) {
        const D d;
        const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
        for (std::int64_t x = 0; x < columns; x += lanes) {
            run_network<MedianNetworks<count, 1>::sorting>(
                d, [&](std::size_t i) HWY_ATTR { return hn::LoadU(d, from[i] + x); },
                [&](std::size_t i, hn::Vec<D> v)
                    HWY_ATTR { hn::StoreU(v, d, to + static_cast<std::int64_t>(i) * pitch + x); });
        }
    }

    /// The medians of two rows.
    template <int count, int lines> void find_pair(std::int64_t row) {
        const Key* from[lines + 1]; // NOLINT: filled below
        for (int i = 0; i <= lines; ++i) {
            from[i] = list_line(row + i, 0);
        }
        Key* const to[2] = {result_line(0), result_line(1)};
        pair_columns<count, lines>(from, tile_.columns, to, pitch_);
    }

    template <int count, int lines>
    static HWY_NOINLINE void pair_columns(const Key* const (&from)[lines + 1], std::int64_t columns,
                                          Key* const (&to)[2], std::int64_t pitch) {
        const D d;
        const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
        for (std::int64_t x = 0; x < columns; x += lanes) {
            run_network<MedianNetworks<count, lines>::pair>(
                d,
                [&](std::size_t i) HWY_ATTR {
                    return hn::LoadU(d, from[i / count] +
                                            static_cast<std::int64_t>(i % count) * pitch + x);
                },
                [&](std::size_t i, hn::Vec<D> v) HWY_ATTR { hn::StoreU(v, d, to[i] + x); });
        }
    }

    HWY_NOINLINE void search_row(std::int64_t row) {
        const D d;
        const hn::RebindToUnsigned<D> bits;
        const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
        const int extent_x = tiles_.extent_x();
        const auto half =
            hn::Set(d, static_cast<Key>(tiles_.extent_z() * tiles_.extent_y() * extent_x / 2));
        const auto sign = hn::Set(d, std::numeric_limits<Key>::min());
        for (std::int64_t x = 0; x < tile_.columns; x += lanes) {
            auto found = hn::Zero(d); // the key with its sign bit turned, from the highest bit on
            for (int bit = static_cast<int>(8 * sizeof(Key)) - 1; bit >= 0; --bit) {
                const auto one = hn::BitCast(
                    d, hn::Set(bits, static_cast<Bits>(Bits{1} << static_cast<unsigned>(bit))));
                const auto wanted = hn::Or(found, one);
                const auto limit = hn::Xor(wanted, sign);
                auto below = hn::Zero(d);
                for (int y = 0; y < tiles_.extent_y(); ++y) {
                    for (int z = 0; z < tiles_.extent_z(); ++z) {
                        const Key* from = window_line(row + y, z) + x;
                        for (int i = 0; i < extent_x; ++i) {
                            // A mask is −1 as a number.
                            below = hn::Sub(
                                below, hn::VecFromMask(d, hn::Lt(hn::LoadU(d, from + i), limit)));
                        }
                    }
                }
                found = hn::IfThenElse(hn::Gt(below, half), found, wanted);
            }
            hn::StoreU(hn::Xor(found, sign), d, result_line(0) + x);
        }
    }

    /// Results as elements; the tile's own where they differ too little.
    void put_row(std::int64_t row, const Key* results) {
        const MedianCall& call = tiles_.call;
        const std::int64_t at = tile_.first_row + row;
        T* to = out_ + (at - call.out_first) * call.columns + tile_.first_column;
        elements_of(results, tile_.columns, to);
        if (call.has_difference) {
            const T* own = in_ + (at - call.in_first) * call.columns + tile_.first_column;
            int replaced = 0;
            for (std::int64_t x = 0; x < tile_.columns; ++x) {
                const bool is_far = call.is_far(excess(own[x], to[x]));
                to[x] = is_far ? to[x] : own[x];
                replaced += is_far ? 1 : 0;
            }
            const std::int64_t made = tile_.frame * call.out_rows + at - call.out_first;
            replaced_ += call.replaced.takes(made) ? replaced : 0;
        }
    }

    static HWY_NOINLINE void elements_of(const Key* HWY_RESTRICT keys, std::int64_t count,
                                         T* HWY_RESTRICT to) {
        for (std::int64_t i = 0; i < count; ++i) {
            to[i] = element_of_key<T>(static_cast<SignedOf<sizeof(T)>>(keys[i]));
        }
    }

    const MedianTiles& tiles_;
    const MedianTile& tile_;
    InvalidTest<T> is_invalid_; ///< where the call says which are
    std::int64_t pitch_;
    int count_;
    Key* space_;
    const T* in_;
    T* out_;
    std::int64_t replaced_ = 0;
};

/// The way for the window's size.
template <class T>
void median_tile_of(const MedianTiles& tiles, const MedianTile& tile, std::byte* space) {
    MedianTileWork<T> work(tiles, tile, space);
    const int count = tiles.extent_z() * tiles.extent_x();
    const int lines = tiles.extent_y();
    bool found = false;
    const auto try_size = [&]<int c, int l>() {
        if constexpr (has_networks(c, l)) {
            if (count == c && lines == l) {
                found = true;
                work.template run_networks<c, l>();
            }
        }
    };
    const auto try_lines = [&]<int... c>(std::integer_sequence<int, c...>) {
        (try_size.template operator()<c, 1>(), ...);
        (try_size.template operator()<c, 3>(), ...);
        (try_size.template operator()<c, 5>(), ...);
    };
    try_lines(std::integer_sequence<int, 1, 3, 5, 7, 9>());
    if (!found) {
        work.run_search();
    }
    tiles.call.replaced.add(work.replaced());
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#endif
