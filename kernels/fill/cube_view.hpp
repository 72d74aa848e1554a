// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/fill/fill_view.hpp"

#include <cstdint>
#include <limits>

namespace runner {

/// A call of fill_means() as host and device see it. Rows count within the input buffer.
///
/// The radius of the smallest cube about an element that has a valid one is the least, over these,
/// of the greatest distance along an axis. It is found along x, of these along y, of these along z.
template <class T> struct CubeView {
    /// No valid element is in reach.
    static constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();

    FillView<T> fill;

    /// The distance from column `x` of a row to its nearest valid element.
    constexpr std::int32_t along_x(const T* line, std::int64_t x) const {
        if (!fill.is_invalid(line[x])) {
            return 0;
        }
        for (std::int64_t d = 1; d <= fill.reach[2]; ++d) {
            if ((x >= d && !fill.is_invalid(line[x - d])) ||
                (x + d < fill.columns && !fill.is_invalid(line[x + d]))) {
                return static_cast<std::int32_t>(d);
            }
        }
        return none;
    }

    /// The radius in the layer, of the distances along x.
    constexpr std::int32_t along_y(const std::int32_t* of_x, std::int64_t row,
                                   std::int64_t x) const {
        return least_of(of_x + row * fill.columns + x, fill.columns, row % fill.rows, fill.rows,
                        fill.reach[1]);
    }

    /// The radius of the cube, of the radii in the layers.
    constexpr std::int32_t along_z(const std::int32_t* of_y, std::int64_t row,
                                   std::int64_t x) const {
        return least_of(of_y + row * fill.columns + x, fill.rows * fill.columns,
                        (fill.in_first + row) / fill.rows, fill.layers, fill.reach[0]);
    }

  private:
    /// The least of max(d, what is d places away), from place `i` of `count`, `stride` apart.
    static constexpr std::int32_t least_of(const std::int32_t* at, std::int64_t stride,
                                           std::int64_t i, std::int64_t count, std::int64_t reach) {
        std::int32_t least = *at;
        for (std::int64_t d = 1; d <= reach && d < least; ++d) {
            const std::int32_t before = i >= d ? at[-d * stride] : none;
            const std::int32_t behind = i + d < count ? at[d * stride] : none;
            const std::int32_t nearer = before < behind ? before : behind;
            const std::int32_t radius = nearer < d ? static_cast<std::int32_t>(d) : nearer;
            least = radius < least ? radius : least;
        }
        return least;
    }
};

/// The two arrays that the scratch has, a number for each element of the input buffer.
struct CubeRadii {
    std::int32_t* of_x = nullptr;
    std::int32_t* of_y = nullptr;

    CubeRadii(std::byte* scratch, std::int64_t elements)
        : of_x(reinterpret_cast<std::int32_t*>(scratch)), of_y(of_x + elements) {}
};

} // namespace runner
