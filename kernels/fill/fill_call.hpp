// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/elements/invalid.hpp"
#include "kernels/fill/fill.hpp"

#include <cstdint>

namespace runner {

/// A call of fill() as host and device see it: its functions are constexpr, so that device code can
/// call them too. Extents and distances are z, y, x.
template <class T> struct FillCall {
    InvalidTest<T> is_invalid;
    Fill::Method method;
    T number; ///< for Method::number
    T rest;   ///< for elements without a valid one in reach
    std::int64_t layers;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t channels;
    std::int64_t reach[3];
    std::int64_t in_first;
    std::int64_t in_rows;
    std::int64_t out_first;
    std::int64_t out_rows;

    /// The valid elements around an invalid one.
    struct Around {
        std::int64_t count = 0; ///< 0: none is in reach
        T nearest = {};
        double sum = 0;            ///< of those of the smallest cube that has any, for Method::mean
        std::int64_t distance = 0; ///< of the nearest, squared
        std::int64_t place = 0;    ///< of the nearest, in z, y, x order

        /// The first of several at one distance counts as the nearest.
        constexpr void take(T element, std::int64_t at, std::int64_t away) {
            if (count == 0 || away < distance || (away == distance && at < place)) {
                nearest = element;
                place = at;
                distance = away;
            }
            sum += static_cast<double>(element);
            ++count;
        }
    };

    /// What becomes of an invalid element, by a method that looks around it.
    constexpr T made(const Around& around) const {
        return around.count == 0 ? rest
               : method == Fill::Method::mean
                   ? converted<T>(around.sum / static_cast<double>(around.count))
                   : around.nearest;
    }

    /// Around row `row` of a frame, of which `frame` holds rows from in_first on.
    constexpr Around look(const T* frame, std::int64_t row, std::int64_t x,
                          std::int64_t channel) const {
        const std::int64_t farthest = most(reach[0], most(reach[1], reach[2]));
        Around around;
        for (std::int64_t r = 1; r <= farthest; ++r) {
            if (around.count > 0 && (method == Fill::Method::mean || r * r > around.distance)) {
                break;
            }
            add_shell(frame, row, x, channel, r, around);
        }
        return around;
    }

  private:
    static constexpr std::int64_t most(std::int64_t a, std::int64_t b) { return a > b ? a : b; }
    static constexpr std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

    /// The surface of the cube of radius `r`.
    constexpr void add_shell(const T* frame, std::int64_t row, std::int64_t x, std::int64_t channel,
                             std::int64_t r, Around& around) const {
        const std::int64_t layer = row / rows;
        const std::int64_t y = row - layer * rows;
        for (std::int64_t dz = -least(r, reach[0]); dz <= least(r, reach[0]); ++dz) {
            for (std::int64_t dy = -least(r, reach[1]); dy <= least(r, reach[1]); ++dy) {
                const bool is_face = dz == -r || dz == r || dy == -r || dy == r;
                if (layer + dz < 0 || layer + dz >= layers || y + dy < 0 || y + dy >= rows ||
                    (!is_face && r > reach[2])) {
                    continue;
                }
                const std::int64_t at = (layer + dz) * rows + y + dy;
                const T* line = frame + (at - in_first) * columns * channels + channel;
                const std::int64_t end = least(r, reach[2]);
                for (std::int64_t dx = -end; dx <= end; dx += is_face ? 1 : 2 * r) {
                    if (x + dx < 0 || x + dx >= columns || is_invalid(line[(x + dx) * channels])) {
                        continue;
                    }
                    around.take(line[(x + dx) * channels], at * columns + x + dx,
                                dz * dz + dy * dy + dx * dx);
                }
            }
        }
    }
};

template <class T> FillCall<T> fill_call(const Fill& fill, const RowBlock& block) {
    return {invalid_test<T>(fill.invalid),
            fill.method,
            converted<T>(fill.number),
            fill.rest ? converted<T>(*fill.rest) : invalid_element<T>(fill.invalid),
            fill.layers,
            fill.rows,
            fill.columns,
            fill.channels,
            {fill.reach[0], fill.reach[1], fill.reach[2]},
            block.in_first,
            block.in_rows,
            block.out_first,
            block.out_rows};
}

} // namespace runner
