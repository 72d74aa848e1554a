// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/boundary.hpp"
#include "kernels/elements/ordered_key.hpp"
#include "kernels/stripes/stripes.hpp"

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

/// Columns of frames, as lines of `rows` values one after the other, counted through all frames.
template <class T> struct StripeLines {
    using Entry = typename StripeEntry<T>::Entry;

    T* lines = nullptr;
    Entry* entries = nullptr; ///< of each line, once sorted
    T* smooth = nullptr;      ///< the smoothed lines; they may take the place of the others
    std::int64_t frames = 1;
    std::int64_t rows = 1;
    std::int64_t columns = 1;
    std::int64_t size = 1; ///< columns of the median

    std::int64_t count() const { return frames * columns; }
    /// The line of column `x` of a frame, continued beyond its border.
    constexpr std::int64_t line(std::int64_t frame, std::int64_t x) const {
        return frame * columns + map_index(x, columns, Boundary::reflect);
    }
    /// The first column in the window about column `x`.
    constexpr std::int64_t window(std::int64_t x) const { return x - size / 2; }
};

// About float32 operations, as those of Stripes.
inline double sort_operations(std::int64_t values, std::int64_t bytes) {
    return 16 * static_cast<double>(values) * static_cast<double>(bytes);
}
inline double smooth_operations(std::int64_t values, std::int64_t size) {
    return 4 * static_cast<double>(values) * static_cast<double>(size);
}

inline double change_operations(std::int64_t values) { return 24 * static_cast<double>(values); }

/// Makes the sorted entries of every line.
template <class T> void sort_lines(CpuQueue& queue, const StripeLines<T>& lines);
template <class T> void sort_lines(CudaQueue& queue, const StripeLines<T>& lines);

/// Makes the smoothed lines of the sorted entries: each rank gets its median, which goes to the row
/// of the rank's entry.
template <class T> void smooth_lines(CpuQueue& queue, const StripeLines<T>& lines);
template <class T> void smooth_lines(CudaQueue& queue, const StripeLines<T>& lines);

} // namespace runner
