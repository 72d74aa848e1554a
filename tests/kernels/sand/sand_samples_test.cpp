// SPDX-License-Identifier: BSD-3-Clause
// The sand samples as patterns, cell by cell from their description.
#include "kernels/patterns/patterns.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

std::vector<std::uint8_t> filled(Pattern pattern, const std::vector<std::int64_t>& shape) {
    CpuQueue queue(2);
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) {
        count *= extent;
    }
    std::vector<std::uint8_t> cells(static_cast<std::size_t>(count));
    fill_pattern(queue, pattern, ElementType::uint8, shape, 1, 0, count,
                 reinterpret_cast<std::byte*>(cells.data()));
    return cells;
}

bool in_circle(std::int64_t x, std::int64_t y, std::int64_t cx, std::int64_t cy, std::int64_t r) {
    return (x - cx) * (x - cx) + (y - cy) * (y - cy) <= r * r;
}

bool on_border(std::int64_t x, std::int64_t y, std::int64_t columns, std::int64_t rows) {
    return x == 0 || y == 0 || x == columns - 1 || y == rows - 1;
}

int third(std::int64_t x, std::int64_t y, std::int64_t scale) {
    if (on_border(x, y, 1920 * scale, 1080 * scale)) {
        return 3;
    }
    if (y >= 700 * scale && y < 708 * scale && x >= 400 * scale && x < 1520 * scale) {
        return 3;
    }
    int cell = 0;
    for (std::int64_t i = 0; i < 12; ++i) {
        if (in_circle(x, y, (80 + 160 * i) * scale, (150 + 120 * (i % 3)) * scale, 70 * scale)) {
            cell = i % 2 == 0 ? 2 : 1;
        }
    }
    return cell;
}

int expected_cell(Pattern pattern, std::int64_t x, std::int64_t y) {
    switch (pattern) {
    case Pattern::sample_1:
        return on_border(x, y, 400, 400) ? 3 : in_circle(x, y, 200, 120, 80) ? 2 : 0;
    case Pattern::sample_2:
        return on_border(x, y, 400, 400)       ? 3
               : in_circle(x, y, 270, 110, 70) ? 1
               : in_circle(x, y, 130, 110, 70) ? 2
                                               : 0;
    case Pattern::sample_3: return third(x, y, 1);
    default: return third(x, y, 2);
    }
}

struct Case {
    Pattern pattern;
    std::int64_t rows;
    std::int64_t columns;
};
const std::vector<Case> all_cases = {{Pattern::sample_1, 400, 400},
                                     {Pattern::sample_2, 400, 400},
                                     {Pattern::sample_3, 1080, 1920},
                                     {Pattern::sample_4, 2160, 3840}};

TEST(SandSamples, EveryCellAsDescribed) {
    for (const auto& [pattern, rows, columns] : all_cases) {
        const auto cells = filled(pattern, {rows, columns});
        for (std::int64_t y = 0; y < rows; ++y) {
            for (std::int64_t x = 0; x < columns; ++x) {
                ASSERT_EQ(expected_cell(pattern, x, y),
                          cells[static_cast<std::size_t>(y * columns + x)])
                    << "sample of " << rows << " rows, row " << y << ", column " << x;
            }
        }
    }
}

TEST(SandSamples, RepeatAndAreCut) {
    const auto cells = filled(Pattern::sample_2, {2, 430, 820});
    for (std::int64_t i = 0; i < 2 * 430 * 820; ++i) {
        const std::int64_t y = i / 820 % 430 % 400;
        const std::int64_t x = i % 820 % 400;
        ASSERT_EQ(expected_cell(Pattern::sample_2, x, y), cells[static_cast<std::size_t>(i)]) << i;
    }
}

} // namespace
} // namespace runner
