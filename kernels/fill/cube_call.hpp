// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/fill/fill_call.hpp"

#include <cstdint>
#include <limits>

namespace runner {

/// The two arrays that the scratch has, a number for each element of the input buffer.
struct CubeRadii {
    std::int32_t* of_x = nullptr;
    std::int32_t* of_y = nullptr;

    CubeRadii(std::byte* scratch, std::int64_t elements)
        : of_x(reinterpret_cast<std::int32_t*>(scratch)), of_y(of_x + elements) {}
};

/// A call of fill_means() as host and device see it. Rows count within the input buffer.
///
/// The radius of the smallest cube about an element that has a valid one is the least, over these,
/// of the greatest distance along an axis. It is found along x, of these along y, of these along z.
template <class T> struct CubeCall {
    /// No valid element is in reach.
    static constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();

    FillCall<T> fill;

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

    /// An element of the output, of the input and the radii in the layers.
    constexpr T made(const T* in, const CubeRadii& radii, std::int64_t row, std::int64_t x) const {
        const T element = in[row * fill.columns + x];
        if (!fill.is_invalid(element)) {
            return element;
        }
        const std::int32_t radius = along_z(radii.of_y, row, x);
        if (radius == none) {
            return fill.rest;
        }
        const Sum sum = surface(in, radii, row, x, radius);
        return converted<T>(sum.of / static_cast<double>(sum.count));
    }

  private:
    struct Sum {
        double of = 0;
        std::int64_t count = 0;
    };

    /// The valid elements of the cube of radius `r`, in z, y, x order, where no smaller one has
    /// any: they are on its surface. Layers and lines without one are left out.
    constexpr Sum surface(const T* in, const CubeRadii& radii, std::int64_t row, std::int64_t x,
                          std::int64_t r) const {
        Sum sum;
        const std::int64_t layer = (fill.in_first + row) / fill.rows;
        const Range z = around(layer, fill.layers, r, fill.reach[0]);
        const Range y = around(row % fill.rows, fill.rows, r, fill.reach[1]);
        for (std::int64_t dz = z.first; dz <= z.last; ++dz) {
            const std::int64_t middle = row + dz * fill.rows;
            if (radii.of_y[middle * fill.columns + x] > r) {
                continue;
            }
            for (std::int64_t dy = y.first; dy <= y.last; ++dy) {
                const std::int64_t line = (middle + dy) * fill.columns;
                if (radii.of_x[line + x] <= r) {
                    const bool is_face = dz == -r || dz == r || dy == -r || dy == r;
                    add_line(in + line, x, r, is_face ? 1 : 2 * r, sum);
                }
            }
        }
        return sum;
    }

    /// Steps from a place that stay within reach and the array.
    struct Range {
        std::int64_t first;
        std::int64_t last;
    };
    static constexpr Range around(std::int64_t i, std::int64_t count, std::int64_t r,
                                  std::int64_t reach) {
        const std::int64_t far = r < reach ? r : reach;
        return {i < far ? -i : -far, count - 1 - i < far ? count - 1 - i : far};
    }

    /// Elements x − r, x − r + step … x + r of a line.
    constexpr void add_line(const T* line, std::int64_t x, std::int64_t r, std::int64_t step,
                            Sum& sum) const {
        const std::int64_t far = r < fill.reach[2] ? r : fill.reach[2];
        for (std::int64_t at = x - far; at <= x + far; at += step) {
            if (at >= 0 && at < fill.columns && !fill.is_invalid(line[at])) {
                sum.of += static_cast<double>(line[at]);
                ++sum.count;
            }
        }
    }

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

} // namespace runner
