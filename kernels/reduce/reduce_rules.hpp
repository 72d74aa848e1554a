// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/elements/ordered_key.hpp"
#include "kernels/reduce/reduce.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace runner {

/// What host and device compute alike. All is constexpr, so that device code can call it too.

__extension__ using WideInteger = __int128;
__extension__ using WideBits = unsigned __int128;

/// A type that holds the sum of any elements of a place exactly; of floats float64.
template <class T>
using ExactSum = std::conditional_t<
    std::is_floating_point_v<T>, double,
    std::conditional_t<sizeof(T) == 8, WideInteger,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>>;

/// What Operation::sum makes of elements of type T.
template <class T>
using SumElement =
    std::conditional_t<std::is_floating_point_v<T>, double,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

/// What the deviations of a place's values are added up of.
constexpr double squared_distance(double value, double mean) {
    return (value - mean) * (value - mean);
}

/// The nearest float64, half to even.
constexpr double nearest_double(double sum) { return sum; }
constexpr double nearest_double(std::int64_t sum) { return static_cast<double>(sum); }
constexpr double nearest_double(std::uint64_t sum) { return static_cast<double>(sum); }
constexpr double nearest_double(WideInteger sum) {
    const bool is_negative = sum < 0;
    auto bits = static_cast<WideBits>(is_negative ? -sum : sum);
    double scale = 1;
    // The 64 highest bits, the last of which says whether there are ones behind it.
    while ((bits >> 64) != 0) {
        bits = (bits >> 1) | (bits & 1);
        scale *= 2;
    }
    const double size = static_cast<double>(static_cast<std::uint64_t>(bits)) * scale;
    return is_negative ? -size : size;
}

/// The sum as an element: integers saturate, a NaN is the quiet one.
template <class T> constexpr SumElement<T> sum_element(ExactSum<T> sum) {
    using Element = SumElement<T>;
    if constexpr (std::is_floating_point_v<T>) {
        return is_nan(sum) ? std::numeric_limits<double>::quiet_NaN() : sum;
    } else if constexpr (sizeof(T) == 8) {
        constexpr WideInteger least = std::numeric_limits<Element>::min();
        constexpr WideInteger most = std::numeric_limits<Element>::max();
        return static_cast<Element>(sum < least ? least : sum > most ? most : sum);
    } else {
        return sum;
    }
}

/// Where the elements of groups are.
struct GroupLayout {
    std::array<GroupAxis, 3> reduced;
    std::array<GroupAxis, 3> kept;
    std::int64_t elements; ///< of a place
    std::int64_t places;   ///< of a group

    /// The place of an index along axes.
    static constexpr std::int64_t offset(const std::array<GroupAxis, 3>& axes, std::int64_t index) {
        if (axes[0].extent == 1 && axes[1].extent == 1) {
            return index * axes[2].stride;
        }
        const std::int64_t last = index / axes[2].extent;
        return (index - last * axes[2].extent) * axes[2].stride +
               last % axes[1].extent * axes[1].stride + last / axes[1].extent * axes[0].stride;
    }
    constexpr std::int64_t element(std::int64_t i) const { return offset(reduced, i); }
    constexpr std::int64_t place(std::int64_t index) const {
        return index / places * (elements * places) + offset(kept, index % places);
    }
};

inline GroupLayout group_layout(const Reduction& reduce) {
    return {reduce.reduced, reduce.kept, reduce.elements(), reduce.places()};
}

/// The most places that are made at once.
inline constexpr std::int64_t most_tile = 32;

/// Places of one group whose elements lie side by side.
struct ReduceTile {
    std::int64_t first = 0;  ///< place, counted through all groups
    std::int64_t width = 1;  ///< places, up to most_tile
    std::int64_t offset = 0; ///< of the first place's first element
};

/// The tiles of all groups.
class ReduceTiles {
  public:
    constexpr ReduceTiles(const GroupLayout& layout, std::int64_t groups)
        : layout_(layout), extent_(layout.kept[2].extent),
          width_(layout.kept[2].stride == 1 ? std::min(most_tile, extent_) : 1),
          in_run_((extent_ + width_ - 1) / width_),
          count_(groups * (layout.places / extent_) * in_run_) {}

    constexpr std::int64_t count() const { return count_; }

    constexpr ReduceTile operator[](std::int64_t index) const {
        const std::int64_t begin = index % in_run_ * width_;
        const std::int64_t first = index / in_run_ * extent_ + begin;
        return {first, std::min(width_, extent_ - begin), layout_.place(first)};
    }

  private:
    GroupLayout layout_;
    std::int64_t extent_; ///< places of a run
    std::int64_t width_;
    std::int64_t in_run_;
    std::int64_t count_;
};

/// The bins of a histogram: bin b has the values from edge(b) up to edge(b + 1), the last one with
/// it.
struct HistogramBins {
    double low;
    double high;
    double step; ///< (high − low) / bins, rounded
    double per;  ///< bins / (high − low), about
    std::int64_t bins;

    static constexpr HistogramBins of(std::int64_t bins, double low, double high) {
        const auto count = static_cast<double>(bins);
        return {low, high, (high - low) / count, count / (high - low), bins};
    }

    constexpr double edge(std::int64_t bin) const {
        return bin >= bins ? high : low + static_cast<double>(bin) * step;
    }

    /// The bin of a value; -1: it is in none.
    constexpr std::int64_t bin_of(double value) const {
        if (!(value >= low && value <= high)) {
            return -1;
        }
        const double about = (value - low) * per;
        std::int64_t bin =
            about < static_cast<double>(bins) ? static_cast<std::int64_t>(about) : bins - 1;
        while (bin > 0 && value < edge(bin)) {
            --bin;
        }
        while (bin + 1 < bins && value >= edge(bin + 1)) {
            ++bin;
        }
        return bin;
    }
};

/// Which of `count` ≥ 1 elements in rising order is the percentile, counted from 0: the lower one
/// of the two that it lies between.
constexpr std::int64_t percentile_rank(double percentile, std::int64_t count) {
    return static_cast<std::int64_t>(percentile * static_cast<double>(count - 1) / 100.0);
}

} // namespace runner
