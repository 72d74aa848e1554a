// SPDX-License-Identifier: BSD-3-Clause
// The reference of the sand automaton against its rules written a second way: as a table of
// patterns, the right-hand rules being the left-hand ones seen in a mirror.
#include "kernels/sand/sand_hash.hpp"

#include "tests/reference/sand_reference.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace runner {
namespace {

using namespace sand_reference;

/// A pattern names the cells TL TR BL BR: `S` sand, `W` water, `s` lighter than sand, `e` lighter
/// than water, `f` anything but that, `.` anything.
bool fits(std::string_view pattern, std::string_view cells) {
    const auto one = [](char wanted, char cell) {
        switch (wanted) {
        case 'S': return cell == 'S';
        case 'W': return cell == 'W';
        case 's': return cell == 'E' || cell == 'W';
        case 'e': return cell == 'E';
        case 'f': return cell != 'E';
        default: return true;
        }
    };
    return std::equal(pattern.begin(), pattern.end(), cells.begin(), one);
}

std::string swapped(std::string cells, std::size_t a, std::size_t b) {
    std::swap(cells[a], cells[b]);
    return cells;
}

std::string mirrored(std::string_view cells) { return {cells[1], cells[0], cells[3], cells[2]}; }

/// Sand in the upper left; other cells as they are.
std::string sand_falls(const std::string& cells, bool happens) {
    if (fits("S.s.", cells)) {
        return happens ? swapped(cells, 0, 2) : cells;
    }
    return fits("Ss.s", cells) ? swapped(cells, 0, 3) : cells;
}

/// Water in the upper left.
std::string water_falls(const std::string& cells, bool falls, bool diagonal) {
    if (falls && fits("W.e.", cells)) {
        return swapped(cells, 0, 2);
    }
    return diagonal && fits("We.e", cells) ? swapped(cells, 0, 3) : cells;
}

std::string by_table(std::string cells, bool full_floor, const Draws& draws) {
    if (draws[0] && (fits("Ssss", cells) || fits("sSss", cells))) {
        cells = swapped(cells, 0, 1);
    } else {
        cells = sand_falls(cells, draws[1]);
        cells = mirrored(sand_falls(mirrored(cells), draws[1]));
    }
    const std::string before = cells;
    cells = water_falls(cells, draws[2], draws[3]);
    cells = mirrored(water_falls(mirrored(cells), draws[2], draws[3]));
    const bool held = fits("..ff", cells);
    if (cells == before && (held || draws[4]) && (fits("We..", cells) || fits("eW..", cells))) {
        cells = swapped(cells, 0, 1);
    }
    if ((full_floor || draws[5]) && (fits("..We", cells) || fits("..eW", cells))) {
        cells = swapped(cells, 2, 3);
    }
    return cells;
}

constexpr std::string_view letters = "EWS#";

std::string written(const Block& b) {
    return {letters[b.tl], letters[b.tr], letters[b.bl], letters[b.br]};
}

Block block_of(unsigned number) {
    const auto cell = [&](unsigned place) {
        return static_cast<Cell>((number >> (2U * place)) & 3U);
    };
    return {cell(0), cell(1), cell(2), cell(3)};
}

Draws draws_of_bits(unsigned bits) {
    Draws draws{};
    for (unsigned salt = 0; salt < draws.size(); ++salt) {
        draws[salt] = ((bits >> salt) & 1U) != 0;
    }
    return draws;
}

TEST(SandReference, EveryBlockFloorAndDrawAsTheTableSays) {
    for (unsigned number = 0; number < 256; ++number) {
        const Block block = block_of(number);
        for (unsigned bits = 0; bits < 64; ++bits) {
            const Draws draws = draws_of_bits(bits);
            for (unsigned floor = 0; floor < 16; ++floor) {
                const auto left = static_cast<Cell>(floor & 3U);
                const auto right = static_cast<Cell>(floor >> 2U);
                EXPECT_EQ(by_table(written(block), left != empty && right != empty, draws),
                          written(step_block(block, left, right, draws)))
                    << written(block) << " draws " << bits << " floor " << floor;
            }
        }
    }
}

TEST(SandReference, BlocksKeepTheirMaterial) {
    for (unsigned number = 0; number < 256; ++number) {
        for (unsigned bits = 0; bits < 64; ++bits) {
            std::string before = written(block_of(number));
            std::string after =
                written(step_block(block_of(number), empty, wall, draws_of_bits(bits)));
            std::sort(before.begin(), before.end());
            std::sort(after.begin(), after.end());
            EXPECT_EQ(before, after);
        }
    }
}

TEST(SandReference, NinetyNineBlocksDependOnADraw) {
    std::array<int, 6> by_salt{};
    int any = 0;
    for (unsigned number = 0; number < 256; ++number) {
        std::array<bool, 6> depends{};
        for (unsigned bits = 0; bits < 64; ++bits) {
            for (unsigned salt = 0; salt < 6; ++salt) {
                depends[salt] |=
                    step_block(block_of(number), empty, empty, draws_of_bits(bits)) !=
                    step_block(block_of(number), empty, empty, draws_of_bits(bits ^ (1U << salt)));
            }
        }
        for (unsigned salt = 0; salt < 6; ++salt) {
            by_salt[salt] += depends[salt] ? 1 : 0;
        }
        any += std::find(depends.begin(), depends.end(), true) != depends.end() ? 1 : 0;
    }
    EXPECT_EQ(99, any);
    EXPECT_EQ((std::array<int, 6>{16, 60, 29, 10, 18, 38}), by_salt);
}

TEST(SandReference, ThresholdsOfThePublishedChances) {
    EXPECT_EQ(0x6666U, sand_threshold(0.4));
    EXPECT_EQ(0xE666U, sand_threshold(0.9));
    EXPECT_EQ(0xFFFFU, sand_threshold(1.0));
    EXPECT_EQ(0x9999U, sand_threshold(0.6));
    EXPECT_EQ(0x8000U, sand_threshold(0.5));
    EXPECT_EQ(0xCCCCU, sand_threshold(0.8));
    EXPECT_EQ(0U, sand_threshold(0.0));
    EXPECT_EQ(0U, sand_threshold(-1.0));
    EXPECT_EQ(1U, sand_threshold(1e-9));
    EXPECT_EQ(65536U, sand_threshold(1.000001));
    EXPECT_EQ(65536U, sand_threshold(2.0));
}

TEST(SandReference, ThresholdIsTheLeastThatReachesTheChance) {
    for (int i = 0; i <= 1000; ++i) {
        const double chance = i / 1000.0;
        const auto reaches = [&](std::uint32_t k) {
            return static_cast<float>(k) / 65535.0F >= static_cast<float>(chance);
        };
        const std::uint32_t k = sand_threshold(chance);
        EXPECT_TRUE(reaches(k)) << chance;
        EXPECT_TRUE(k == 0 || !reaches(k - 1)) << chance;
    }
}

TEST(SandReference, DrawsAreTheXorOfTheirParts) {
    std::uint32_t state = 12345;
    const auto next = [&] {
        return state = state * 1664525U + 1013904223U, state ^ (state >> 15U);
    };
    for (int i = 0; i < 100000; ++i) {
        const std::uint32_t x = next();
        const std::uint32_t y = next();
        const std::uint32_t generation = next();
        const std::uint32_t seed = next();
        const std::uint32_t salt = next() % 6;
        const std::uint32_t t =
            sand_x_part(x) ^ sand_row_part(y, generation, seed) ^ sand_salt_part(salt);
        EXPECT_EQ(draw(x, y, generation, salt, seed), (t * 0x9F61U) & 0xFFFFU);
    }
}

TEST(SandReference, OffsetsOfThePhases) {
    constexpr std::array<int, 4> columns = {0, 1, 0, 1};
    constexpr std::array<int, 4> rows = {0, 1, 1, 0};
    for (std::uint64_t g = 0; g < 12; ++g) {
        EXPECT_EQ(columns[g % 4], sand_column_offset(g));
        EXPECT_EQ(rows[g % 4], sand_row_offset(g));
    }
}

Sand certain(std::int64_t rows, std::int64_t columns) {
    return {rows, columns, 0, {65536, 65536, 65536, 65536, 65536}};
}

Sand never(std::int64_t rows, std::int64_t columns) { return {rows, columns, 0, {0, 0, 0, 0, 0}}; }

TEST(SandReference, ByHand) {
    // A grain above two empty cells slides first, where that is certain.
    EXPECT_EQ((Cells{0, 2, 0, 0}), step(certain(2, 2), 0, {2, 0, 0, 0}));
    // It falls where it cannot slide, and sinks through water.
    EXPECT_EQ((Cells{1, 3, 2, 0}), step(certain(2, 2), 0, {2, 3, 1, 0}));
    // Without luck it stays, but rolls off a full column without any draw.
    EXPECT_EQ((Cells{2, 0, 0, 0}), step(never(2, 2), 0, {2, 0, 0, 0}));
    EXPECT_EQ((Cells{0, 0, 2, 2}), step(never(2, 2), 0, {2, 0, 2, 0}));
    // Water drops, and then spreads along the bottom: the floor is outside, a wall.
    EXPECT_EQ((Cells{0, 0, 0, 1}), step(certain(2, 2), 0, {1, 0, 0, 0}));
    // Over water and wall it spreads without luck.
    EXPECT_EQ((Cells{0, 1, 1, 3}), step(never(2, 2), 0, {1, 0, 1, 3}));
    // Phases 1, 2 and 3 leave the cells outside their blocks alone.
    const Cells grain = {2, 0, 0, 0, 0, 0, 0, 0, 0};
    EXPECT_EQ(grain, step(certain(3, 3), 1, grain));
    EXPECT_EQ(grain, step(certain(3, 3), 2, grain));
    EXPECT_EQ(grain, step(certain(3, 3), 3, grain));
    EXPECT_EQ((Cells{0, 2, 0, 0, 0, 0, 0, 0, 0}), step(certain(3, 3), 4, grain));
    // Below the lower row stands water on one side only: no floor, no spreading without luck.
    EXPECT_EQ((Cells{0, 0, 1, 0, 1, 0}), step(never(3, 2), 0, {0, 0, 1, 0, 1, 0}));
    EXPECT_EQ((Cells{0, 0, 0, 1, 1, 1}), step(never(3, 2), 0, {0, 0, 1, 0, 1, 1}));
}

TEST(SandReference, GridsWithoutBlocksStayAsTheyAre) {
    for (std::uint64_t g = 0; g < 4; ++g) {
        EXPECT_EQ((Cells{2, 0, 1}), step(certain(1, 3), g, {2, 0, 1}));
        EXPECT_EQ((Cells{2, 0, 1}), step(certain(3, 1), g, {2, 0, 1}));
        EXPECT_EQ((Cells{2}), step(certain(1, 1), g, {2}));
    }
}

} // namespace
} // namespace runner
