// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace runner {

/// The draws of the sand automaton, cut for speed. A draw is k = low16(mix(n) · 1274126177), where
/// n is the XOR of one term for each of x, y, generation, salt and seed, and mix(n) = n ^ (n >>
/// 13). mix is linear over XOR and k has 16 bits, so k = low16(t · 0x9F61) with t the XOR of the
/// low 16 bits of the mixed terms. 0x9F61 = 1 − 5 · 2⁵ + 5 · 2¹³ modulo 2¹⁶, which the bit planes
/// use.
constexpr std::uint32_t sand_mix(std::uint32_t n) { return (n ^ (n >> 13)) & 0xFFFFU; }

constexpr std::uint32_t sand_x_factor = 374761393U;

constexpr std::uint32_t sand_x_part(std::uint32_t x) { return sand_mix(x * sand_x_factor); }
constexpr std::uint32_t sand_salt_part(std::uint32_t salt) { return sand_mix(salt * 387413U); }

/// The part of a row's blocks: `y` is the upper row of the blocks, in the whole grid.
constexpr std::uint32_t sand_row_part(std::uint32_t y, std::uint32_t generation,
                                      std::uint32_t seed) {
    return sand_mix((y * 668265263U) ^ (generation * 1274126177U) ^ (seed * 2654435769U));
}

/// The column offset of the blocks of a generation, 0 or 1.
constexpr int sand_column_offset(std::uint64_t generation) {
    return static_cast<int>(generation & 1U);
}
/// The row offset of the blocks of a generation, 0 or 1.
constexpr int sand_row_offset(std::uint64_t generation) {
    return static_cast<int>(((generation >> 1U) ^ generation) & 1U);
}

/// The tables of the CUDA form: for each column offset of the blocks and each group of 64 columns
/// the sixteen planes of the x parts of its 32 blocks.
constexpr std::int64_t sand_cuda_table_bytes(std::int64_t columns) {
    return 2 * ((columns + 63) / 64) * 16 * 4;
}

} // namespace runner
