// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/elements/elements.hpp"
#include "kernels/median/median.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace runner {

/// Numbers by size, −0 before 0; NaN after them.
template <class T> bool comes_before(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(a) || std::isnan(b)) {
            return !std::isnan(a);
        }
        if (a == 0 && b == 0) {
            return std::signbit(a) && !std::signbit(b);
        }
    }
    return a < b;
}

template <class T> double distance_of(T a, T b) {
    return std::fabs(
        static_cast<double>(static_cast<long double>(a) - static_cast<long double>(b)));
}

/// docs/median.md, an element at a time: whole frames.
template <class T>
std::vector<T> median_reference(const Median& m, std::int64_t frames, const std::vector<T>& in) {
    const std::array<std::int64_t, 3> radius = {m.size[0] / 2, m.size[1] / 2, m.size[2] / 2};
    const T fill = converted<T>(m.fill);
    std::vector<T> out;
    std::vector<T> window;
    const auto element = [&](std::int64_t f, std::int64_t z, std::int64_t y, std::int64_t x) {
        z = map_index(z, m.layers, m.boundary);
        y = map_index(y, m.rows, m.boundary);
        x = map_index(x, m.columns, m.boundary);
        if (z < 0 || y < 0 || x < 0) {
            return fill;
        }
        return in[static_cast<std::size_t>(((f * m.layers + z) * m.rows + y) * m.columns + x)];
    };
    for (std::int64_t i = 0; i < frames * m.layers * m.rows * m.columns; ++i) {
        const std::int64_t x = i % m.columns;
        const std::int64_t y = i / m.columns % m.rows;
        const std::int64_t z = i / m.columns / m.rows % m.layers;
        const std::int64_t f = i / m.columns / m.rows / m.layers;
        window.clear();
        for (std::int64_t dz = -radius[0]; dz <= radius[0]; ++dz) {
            for (std::int64_t dy = -radius[1]; dy <= radius[1]; ++dy) {
                for (std::int64_t dx = -radius[2]; dx <= radius[2]; ++dx) {
                    window.push_back(element(f, z + dz, y + dy, x + dx));
                }
            }
        }
        const auto middle = window.begin() + static_cast<std::ptrdiff_t>(window.size() / 2);
        std::nth_element(window.begin(), middle, window.end(), comes_before<T>);
        const T own = in[static_cast<std::size_t>(i)];
        const bool wrong_side = (m.side == Median::Side::above && !(own > *middle)) ||
                                (m.side == Median::Side::below && !(own < *middle));
        const bool stays =
            m.difference && (wrong_side || !(distance_of(own, *middle) > *m.difference));
        out.push_back(stays ? own : *middle);
    }
    return out;
}

} // namespace runner
