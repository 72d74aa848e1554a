// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/boundary.hpp"
#include "kernels/elements/ordered_key.hpp"
#include "kernels/stripes/stripes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace runner {

/// The key of an element of 8 bytes and its row, as one value that orders by the key first.
struct LongEntry {
    std::int64_t key;
    std::int64_t row;

    constexpr bool operator<(const LongEntry& other) const {
        return key < other.key || (key == other.key && row < other.row);
    }
};

/// An element's key (ordered_key.hpp) and its row as one value, whose order is that of a stable
/// sort of a column: no two of a column are equal. constexpr, so that device code can call it too.
template <class T> struct StripeEntry {
    using Key = SignedOf<(sizeof(T) < 2 ? 2 : sizeof(T))>;
    using Packed = std::conditional_t<sizeof(T) <= 2, std::uint32_t, std::uint64_t>;
    using Entry = std::conditional_t<sizeof(T) == 8, LongEntry, Packed>;
    static constexpr int row_bits = sizeof(T) <= 2 ? 16 : 32;
    static_assert(Stripes::most_rows <= std::int64_t{1} << 16);

    static constexpr Key key_of(T element) { return static_cast<Key>(ordered_key(element)); }
    static constexpr Entry make(T element, std::int64_t row) {
        const Key key = key_of(element);
        if constexpr (sizeof(T) == 8) {
            return {key, row};
        } else {
            // The sign is turned, so that unsigned values have the order of the signed keys.
            using Bits = std::make_unsigned_t<Key>;
            const auto bits =
                static_cast<Bits>(static_cast<Bits>(key) ^ (Bits{1} << (row_bits - 1)));
            return static_cast<Packed>(bits) << row_bits | static_cast<Packed>(row);
        }
    }
    static constexpr Key key(const Entry& entry) {
        if constexpr (sizeof(T) == 8) {
            return entry.key;
        } else {
            using Bits = std::make_unsigned_t<Key>;
            return static_cast<Key>(static_cast<Bits>(entry >> row_bits) ^
                                    (Bits{1} << (row_bits - 1)));
        }
    }
    static constexpr std::int64_t row(const Entry& entry) {
        if constexpr (sizeof(T) == 8) {
            return entry.row;
        } else {
            return static_cast<std::int64_t>(entry & ((Packed{1} << row_bits) - 1));
        }
    }
    static constexpr T element(Key key) {
        return element_of_key<T>(static_cast<SignedOf<sizeof(T)>>(key));
    }
};

/// Frames that pass through the scratch memory at once: some 8 Mi elements, one frame at least.
inline std::int64_t frames_at_once(const Stripes& stripes, std::int64_t frames) {
    constexpr std::int64_t elements = std::int64_t{1} << 23;
    constexpr std::int64_t most = 16384; // a grid's extent may not be much more
    const std::int64_t fitting = std::min(most, elements / (stripes.rows * stripes.columns));
    return std::clamp(frames, std::int64_t{1}, std::max(std::int64_t{1}, fitting));
}

/// A call for frames_at_once() frames or fewer. Lines are columns of the frames, one after the
/// other, counted through all of them: a line has `rows` values.
template <class T> struct StripesView {
    using Entry = typename StripeEntry<T>::Entry;

    const T* in;
    T* out;
    Entry* entries; ///< of each line, once sorted
    T* lines;       ///< what the output's columns are to be
    std::int64_t frames;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t size;

    /// The line of column `x` of a frame, continued beyond its border.
    constexpr std::int64_t line(std::int64_t frame, std::int64_t x) const {
        return frame * columns + map_index(x, columns, Boundary::reflect);
    }
    /// The first column in the window about column `x`.
    constexpr std::int64_t window(std::int64_t x) const { return x - size / 2; }
};

/// Calls `work` with the view of some frames after the other.
template <class T, class Work>
void for_frames_at_once(const Stripes& stripes, std::int64_t frames, const std::byte* in,
                        std::byte* out, std::byte* scratch, const Work& work) {
    using Entry = typename StripeEntry<T>::Entry;
    const std::int64_t frame = stripes.rows * stripes.columns;
    const std::int64_t most = frames_at_once(stripes, frames);
    for (std::int64_t first = 0; first < frames; first += most) {
        work(StripesView<T>{
            reinterpret_cast<const T*>(in) + first * frame,
            reinterpret_cast<T*>(out) + first * frame, reinterpret_cast<Entry*>(scratch),
            reinterpret_cast<T*>(scratch + most * frame * static_cast<std::int64_t>(sizeof(Entry))),
            std::min(most, frames - first), stripes.rows, stripes.columns, stripes.size});
    }
}

} // namespace runner
