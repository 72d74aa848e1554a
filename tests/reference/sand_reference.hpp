// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/sand/sand.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace runner {

/// The sand automaton as its rules are written, a block at a time.
namespace sand_reference {

using Cell = std::uint8_t;
using Cells = std::vector<Cell>;

inline constexpr Cell empty = 0;
inline constexpr Cell water = 1;
inline constexpr Cell sand = 2;
inline constexpr Cell wall = 3;

struct Block {
    Cell tl = empty;
    Cell tr = empty;
    Cell bl = empty;
    Cell br = empty;

    bool operator==(const Block&) const = default;
};

/// Whether each of the six draws happens, by salt.
using Draws = std::array<bool, 6>;

/// The block after one generation; the floor is the two cells below it.
inline Block step_block(Block b, Cell floor_left, Cell floor_right, const Draws& draws) {
    const auto& [slide, fall, drop, diagonal, spread_upper, spread_lower] = draws;
    if (b.tl == b.tr && b.tl == b.bl && b.tl == b.br) {
        return b;
    }
    const bool may_slide = (b.tl == sand && b.tr < sand) || (b.tr == sand && b.tl < sand);
    if (may_slide && b.bl < sand && b.br < sand && slide) {
        std::swap(b.tl, b.tr);
    } else {
        if (b.tl == sand) {
            if (b.bl < sand) {
                if (fall) {
                    std::swap(b.tl, b.bl);
                }
            } else if (b.tr < sand && b.br < sand) {
                std::swap(b.tl, b.br);
            }
        }
        if (b.tr == sand) {
            if (b.br < sand) {
                if (fall) {
                    std::swap(b.tr, b.br);
                }
            } else if (b.tl < sand && b.bl < sand) {
                std::swap(b.tr, b.bl);
            }
        }
    }
    bool dropped = false;
    if (b.tl == water) {
        if (b.bl < water && drop) {
            std::swap(b.tl, b.bl);
            dropped = true;
        } else if (b.tr < water && b.br < water && diagonal) {
            std::swap(b.tl, b.br);
            dropped = true;
        }
    }
    if (b.tr == water) {
        if (b.br < water && drop) {
            std::swap(b.tr, b.br);
            dropped = true;
        } else if (b.tl < water && b.bl < water && diagonal) {
            std::swap(b.tr, b.bl);
            dropped = true;
        }
    }
    const bool upper = (b.tl == water && b.tr < water) || (b.tr == water && b.tl < water);
    if (!dropped && upper && ((b.bl >= water && b.br >= water) || spread_upper)) {
        std::swap(b.tl, b.tr);
    }
    const bool lower = (b.bl == water && b.br < water) || (b.br == water && b.bl < water);
    if (lower && ((floor_left >= water && floor_right >= water) || spread_lower)) {
        std::swap(b.bl, b.br);
    }
    return b;
}

/// The draw of a salt for the block that starts at (x, y).
inline std::uint32_t draw(std::uint32_t x, std::uint32_t y, std::uint32_t generation,
                          std::uint32_t salt, std::uint32_t seed) {
    std::uint32_t n = (x * 374761393U) ^ (y * 668265263U) ^ (generation * 1274126177U) ^
                      (salt * 387413U) ^ (seed * 2654435769U);
    n = (n ^ (n >> 13U)) * 1274126177U;
    return n & 0xFFFFU;
}

inline Draws draws_of(const Sand& job, std::int64_t x, std::int64_t y, std::uint64_t generation) {
    const SandThresholds& t = job.thresholds;
    const std::array<std::uint32_t, 6> thresholds = {
        t.sand_slide, t.sand_fall, t.water_fall, t.water_diagonal, t.water_spread, t.water_spread};
    Draws draws{};
    for (std::uint32_t salt = 0; salt < 6; ++salt) {
        draws[salt] =
            draw(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                 static_cast<std::uint32_t>(generation), salt, job.seed) < thresholds[salt];
    }
    return draws;
}

/// The whole grid, row-major, one generation later.
inline Cells step(const Sand& job, std::uint64_t generation, const Cells& before) {
    constexpr std::array<std::pair<int, int>, 4> offsets = {{{0, 0}, {1, 1}, {0, 1}, {1, 0}}};
    const auto [ox, oy] = offsets[generation % 4];
    const auto at = [&](std::int64_t x, std::int64_t y) {
        return static_cast<std::size_t>(y * job.columns + x);
    };
    Cells after = before;
    for (std::int64_t y = oy; y + 1 < job.rows; y += 2) {
        for (std::int64_t x = ox; x + 1 < job.columns; x += 2) {
            const bool last = y + 2 >= job.rows;
            const Block block =
                step_block({before[at(x, y)], before[at(x + 1, y)], before[at(x, y + 1)],
                            before[at(x + 1, y + 1)]},
                           last ? wall : before[at(x, y + 2)],
                           last ? wall : before[at(x + 1, y + 2)], draws_of(job, x, y, generation));
            after[at(x, y)] = block.tl;
            after[at(x + 1, y)] = block.tr;
            after[at(x, y + 1)] = block.bl;
            after[at(x + 1, y + 1)] = block.br;
        }
    }
    return after;
}

inline Cells advance(const Sand& job, std::uint64_t generation, std::int64_t generations,
                     Cells cells) {
    for (std::int64_t i = 0; i < generations; ++i) {
        cells = step(job, generation + static_cast<std::uint64_t>(i), cells);
    }
    return cells;
}

} // namespace sand_reference
} // namespace runner
