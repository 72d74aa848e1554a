// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/sand/sand_samples.hpp"

#include <algorithm>

namespace runner {
namespace {

constexpr std::uint8_t water = 1;
constexpr std::uint8_t sand = 2;
constexpr std::uint8_t wall = 3;

/// The greatest whole number whose square is ≤ n.
std::int64_t whole_root(std::int64_t n) {
    std::int64_t root = 0;
    while ((root + 1) * (root + 1) <= n) {
        ++root;
    }
    return root;
}

} // namespace

SandSample::SandSample(int number) {
    switch (number) {
    case 1: circles_ = {{200, 120, 80, sand}}; break;
    case 2: circles_ = {{130, 110, 70, sand}, {270, 110, 70, water}}; break;
    case 3: add_third(1); break;
    default: add_third(2); break;
    }
}

void SandSample::add_third(std::int64_t scale) {
    rows_ = 1080 * scale;
    columns_ = 1920 * scale;
    for (std::int64_t i = 0; i < 12; ++i) {
        circles_.push_back({(80 + 160 * i) * scale, (150 + 120 * (i % 3)) * scale, 70 * scale,
                            i % 2 == 0 ? sand : water});
    }
    bars_.push_back({700 * scale, 708 * scale, 400 * scale, 1520 * scale, wall});
}

void SandSample::fill_row(std::int64_t row, std::int64_t first, std::int64_t end,
                          std::uint8_t* cells) const {
    const auto fill = [&](std::int64_t from, std::int64_t to, std::uint8_t material) {
        from = std::max(from, first);
        to = std::min(to, end);
        if (from < to) {
            std::fill(cells + (from - first), cells + (to - first), material);
        }
    };
    fill(0, columns_, 0);
    for (const Circle& circle : circles_) {
        const std::int64_t above =
            circle.radius * circle.radius - (row - circle.row) * (row - circle.row);
        if (above >= 0) {
            const std::int64_t half = whole_root(above);
            fill(circle.column - half, circle.column + half + 1, circle.material);
        }
    }
    for (const Bar& bar : bars_) {
        if (row >= bar.first_row && row < bar.end_row) {
            fill(bar.first_column, bar.end_column, bar.material);
        }
    }
    fill(0, 1, wall);
    fill(columns_ - 1, columns_, wall);
    if (row == 0 || row == rows_ - 1) {
        fill(0, columns_, wall);
    }
}

} // namespace runner
