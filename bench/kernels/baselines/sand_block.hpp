// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/sand/sand.hpp"

#include <cstdint>

namespace runner::sand_baseline {

/// One 2 × 2 block of a byte a cell, and whether both cells of its floor are water or heavier.
struct Block {
    int tl, tr, bl, br;
    bool full_floor;
};

/// Where a block stands, for its draws.
struct Place {
    std::uint32_t x, y, generation, seed;
};

/// Thresholds by salt.
struct Thresholds {
    std::uint32_t by_salt[6];
};

inline Thresholds thresholds_of(const Sand& sand) {
    const SandThresholds& t = sand.thresholds;
    return {{t.sand_slide, t.sand_fall, t.water_fall, t.water_diagonal, t.water_spread,
             t.water_spread}};
}

constexpr bool happens(const Place& place, std::uint32_t salt, const Thresholds& thresholds) {
    std::uint32_t n = (place.x * 374761393U) ^ (place.y * 668265263U) ^
                      (place.generation * 1274126177U) ^ (salt * 387413U) ^
                      (place.seed * 2654435769U);
    n = (n ^ (n >> 13U)) * 1274126177U;
    return (n & 0xFFFFU) < thresholds.by_salt[salt];
}

constexpr void exchange(int& a, int& b) {
    const int kept = a;
    a = b;
    b = kept;
}

constexpr void exchange_if(bool condition, int& a, int& b) {
    const int change = (a ^ b) & -static_cast<int>(condition);
    a ^= change;
    b ^= change;
}

/// The rule with a branch for each question; a draw is made where it is asked for.
constexpr void step_with_branches(Block& b, const Place& place, const Thresholds& t) {
    if (b.tl == b.tr && b.tl == b.bl && b.tl == b.br) {
        return;
    }
    if (((b.tl == 2 && b.tr < 2) || (b.tr == 2 && b.tl < 2)) && b.bl < 2 && b.br < 2 &&
        happens(place, 0, t)) {
        exchange(b.tl, b.tr);
    } else {
        if (b.tl == 2) {
            if (b.bl < 2) {
                if (happens(place, 1, t)) {
                    exchange(b.tl, b.bl);
                }
            } else if (b.tr < 2 && b.br < 2) {
                exchange(b.tl, b.br);
            }
        }
        if (b.tr == 2) {
            if (b.br < 2) {
                if (happens(place, 1, t)) {
                    exchange(b.tr, b.br);
                }
            } else if (b.tl < 2 && b.bl < 2) {
                exchange(b.tr, b.bl);
            }
        }
    }
    bool dropped = false;
    if (b.tl == 1) {
        if (b.bl < 1 && happens(place, 2, t)) {
            exchange(b.tl, b.bl);
            dropped = true;
        } else if (b.tr < 1 && b.br < 1 && happens(place, 3, t)) {
            exchange(b.tl, b.br);
            dropped = true;
        }
    }
    if (b.tr == 1) {
        if (b.br < 1 && happens(place, 2, t)) {
            exchange(b.tr, b.br);
            dropped = true;
        } else if (b.tl < 1 && b.bl < 1 && happens(place, 3, t)) {
            exchange(b.tr, b.bl);
            dropped = true;
        }
    }
    if (!dropped && ((b.tl == 1 && b.tr < 1) || (b.tr == 1 && b.tl < 1)) &&
        ((b.bl >= 1 && b.br >= 1) || happens(place, 4, t))) {
        exchange(b.tl, b.tr);
    }
    if (((b.bl == 1 && b.br < 1) || (b.br == 1 && b.bl < 1)) &&
        (b.full_floor || happens(place, 5, t))) {
        exchange(b.bl, b.br);
    }
}

/// The rule without a branch: every draw is made, every exchange is masked.
constexpr void step_without_branches(Block& b, const Place& place, const Thresholds& t) {
    const bool slide = happens(place, 0, t);
    const bool fall = happens(place, 1, t);
    const bool drop = happens(place, 2, t);
    const bool diagonal = happens(place, 3, t);
    const bool upper = happens(place, 4, t);
    const bool lower = happens(place, 5, t);

    const bool one_grain = ((b.tl == 2) & (b.tr < 2)) | ((b.tr == 2) & (b.tl < 2));
    const bool slides = one_grain & (b.bl < 2) & (b.br < 2) & slide;
    exchange_if(slides, b.tl, b.tr);
    const bool left_grain = (b.tl == 2) & !slides;
    const bool left_free = b.bl < 2;
    const bool left_rolls = left_grain & !left_free & (b.tr < 2) & (b.br < 2);
    exchange_if(left_grain & left_free & fall, b.tl, b.bl);
    exchange_if(left_rolls, b.tl, b.br);
    const bool right_grain = (b.tr == 2) & !slides;
    const bool right_free = b.br < 2;
    const bool right_rolls = right_grain & !right_free & (b.tl < 2) & (b.bl < 2);
    exchange_if(right_grain & right_free & fall, b.tr, b.br);
    exchange_if(right_rolls, b.tr, b.bl);

    const bool left_drops = (b.tl == 1) & (b.bl < 1) & drop;
    const bool left_crosses = (b.tl == 1) & !left_drops & (b.tr < 1) & (b.br < 1) & diagonal;
    exchange_if(left_drops, b.tl, b.bl);
    exchange_if(left_crosses, b.tl, b.br);
    const bool right_drops = (b.tr == 1) & (b.br < 1) & drop;
    const bool right_crosses = (b.tr == 1) & !right_drops & (b.tl < 1) & (b.bl < 1) & diagonal;
    exchange_if(right_drops, b.tr, b.br);
    exchange_if(right_crosses, b.tr, b.bl);

    const bool dropped = left_drops | left_crosses | right_drops | right_crosses;
    const bool uneven_upper = ((b.tl == 1) & (b.tr < 1)) | ((b.tr == 1) & (b.tl < 1));
    exchange_if(!dropped & uneven_upper & (((b.bl >= 1) & (b.br >= 1)) | upper), b.tl, b.tr);
    const bool uneven_lower = ((b.bl == 1) & (b.br < 1)) | ((b.br == 1) & (b.bl < 1));
    exchange_if(uneven_lower & (b.full_floor | lower), b.bl, b.br);
}

} // namespace runner::sand_baseline
