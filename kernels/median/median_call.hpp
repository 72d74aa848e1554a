// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "kernels/elements/ordered_key.hpp"
#include "kernels/median/median.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace runner {

/// A call: the window, and which rows its buffers hold (see RowBlock).
struct MedianCall {
    std::int64_t frames;
    std::int64_t layers;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t in_first;
    std::int64_t in_rows;
    std::int64_t out_first;
    std::int64_t out_rows;
    int radius_z;
    int radius_y;
    int radius_x;
    Boundary boundary;
    double fill;
    bool has_difference;
    double difference;
    Median::Side side;
    Tally replaced; ///< rows of the output, counted through all frames

    /// Whether an element, so far above its median, becomes it where there is a difference.
    constexpr bool is_far(double above) const {
        const bool turned =
            side == Median::Side::below || (side == Median::Side::both && above < 0);
        return (turned ? -above : above) > difference;
    }
    /// The row of the input buffer, within its frame, that holds row `y` of a layer, dz layers
    /// away; −1 where the fill value stands. Without layers `layer` is 0, and y an extended row.
    /// constexpr, so that device code can call it too.
    constexpr std::int64_t held_row(std::int64_t layer, std::int64_t y, int dz) const {
        if (radius_z > 0) {
            y = map_index(y, rows, boundary);
            if (y < 0) {
                return -1;
            }
        }
        const std::int64_t held = (layer + dz) * rows + y - in_first;
        if (held >= 0 && held < in_rows) {
            return held;
        }
        const std::int64_t mapped =
            radius_z == 0 ? map_index(y, rows, boundary) : map_index(layer + dz, layers, boundary);
        return mapped < 0 ? -1 : radius_z == 0 ? mapped - in_first : mapped * rows + y - in_first;
    }
    /// The layer of a row of the output, and the row within it; without layers 0 and the row.
    constexpr std::int64_t layer_of(std::int64_t row) const {
        return radius_z == 0 ? 0 : row / rows;
    }
    /// Rows of the output that are side by side in a layer: all of a block without layers.
    constexpr std::int64_t lines() const { return radius_z == 0 ? out_rows : rows; }
    /// Such runs of rows in all frames.
    constexpr std::int64_t runs() const { return frames * (out_rows / lines()); }
    /// Elements that a call reads and writes.
    constexpr std::int64_t elements() const { return frames * (in_rows + out_rows) * columns; }
};

/// Without a difference nothing is counted.
inline MedianCall median_call(const Median& median, const RowBlock& block, const Tally& replaced) {
    return {block.frames,
            median.layers,
            median.rows,
            median.columns,
            block.in_first,
            block.in_rows,
            block.out_first,
            block.out_rows,
            median.size[0] / 2,
            median.size[1] / 2,
            median.size[2] / 2,
            median.boundary,
            median.fill,
            median.difference.has_value(),
            median.difference.value_or(0),
            median.side,
            median.difference ? replaced : Tally{}};
}

/// x − median, exact for integers as far as float64 is. constexpr, so that device code can call it
/// too.
template <class T> constexpr double excess(T x, T median) {
    if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
        const auto apart = [](T high, T low) {
            return static_cast<double>(static_cast<std::uint64_t>(high) -
                                       static_cast<std::uint64_t>(low));
        };
        return x > median ? apart(x, median) : -apart(median, x);
    } else {
        return static_cast<double>(x) - static_cast<double>(median);
    }
}

/// Whether x has become another element, its median. A NaN never does. constexpr, so that device
/// code can call it too.
template <class T> constexpr bool is_replaced(T x, T result) { return !is_nan(x) && result != x; }

/// As many blocks as one launch may have. @throws Error (defect) if there are more.
inline unsigned launched_blocks(std::int64_t blocks) {
    if (blocks > std::numeric_limits<std::int32_t>::max()) {
        throw Error(ExitCode::defect,
                    {"a block of rows is too large for one launch", "median", "", ""});
    }
    return static_cast<unsigned>(blocks);
}

/// The median of any window and type on the GPU, by the bits of its key.
void launch_median_search(CudaQueue& queue, ElementType type, const MedianCall& call,
                          const std::byte* in, std::byte* out);

/// Puts right what median() makes where elements are invalid, `value` of the type: medians of
/// windows that have one (on the CPU, two or more), and the invalid ones themselves; and the
/// call's tally with them.
void mend_medians(CpuQueue& queue, ElementType type, double value, const MedianCall& call,
                  const std::byte* in, std::byte* out);
void mend_medians(CudaQueue& queue, ElementType type, double value, const MedianCall& call,
                  const std::byte* in, std::byte* out);

/// Medians on the GPU by networks in registers, of elements of up to 2 and from 4 bytes. Return
/// whether there are networks for the window; where not, nothing is launched. Columns are below
/// 2³⁰.
bool launch_median_narrow(CudaQueue& queue, ElementType type, const MedianCall& call,
                          const std::byte* in, std::byte* out);
bool launch_median_wide(CudaQueue& queue, ElementType type, const MedianCall& call,
                        const std::byte* in, std::byte* out);
/// Medians of as many rows as columns, 7 to 15, of elements of up to 4 bytes, likewise.
bool launch_median_windows(CudaQueue& queue, ElementType type, const MedianCall& call,
                           const std::byte* in, std::byte* out);

} // namespace runner
