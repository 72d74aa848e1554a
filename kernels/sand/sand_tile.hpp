// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/sand/sand.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace runner {

/// The CPU's tables: for each column offset of the blocks sixteen planes of x parts and one that
/// says which blocks there are; a 32-bit word a group of 64 columns.
struct SandCpuTables {
    static constexpr std::int64_t planes = 17;

    const std::uint32_t* words = nullptr;
    std::int64_t stride = 0; ///< words of a plane, a multiple of 16

    const std::uint32_t* plane(int column_offset, int plane) const {
        return words + (column_offset * planes + plane) * stride;
    }
};

/// Words of a plane of `columns` columns, whole vectors.
constexpr std::int64_t sand_plane_words(std::int64_t columns) {
    return (columns + 1023) / 1024 * 16;
}

constexpr std::int64_t sand_cpu_table_bytes(std::int64_t columns) {
    return 2 * SandCpuTables::planes * sand_plane_words(columns) * 4;
}

/// The rows of a tile in one thread's memory: four planes a row (the high and low bits of the even
/// columns, then of the odd ones), each with a vector of nothing after it.
struct SandTileRows {
    std::uint32_t* words = nullptr; ///< aligned to 64 bytes
    std::int64_t stride = 0;        ///< words of a plane
    std::int64_t first_row = 0;
    std::int64_t rows = 0;

    static std::int64_t stride_of(std::int64_t columns) { return sand_plane_words(columns) + 16; }
    std::uint32_t* row(std::int64_t y) const { return words + (y - first_row) * 4 * stride; }
};

/// What the tiles of one pass have in common.
struct SandPass {
    Sand sand;
    SandCpuTables tables;
    SandBand held; ///< the rows of `from` and `to`
    std::uint64_t generation = 0;
    std::int64_t generations = 0;
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    /// By chance, the bits of the threshold as words of ones or zeros.
    std::array<std::array<std::uint32_t, 16>, 5> threshold_words{};
};

/// Takes rows [first_row, first_row + rows) of the grid through the pass; `rows` has room for them
/// and the pass's generations more on each side.
void sand_tile(const SandPass& pass, std::int64_t first_row, std::int64_t rows,
               std::uint32_t* memory);

} // namespace runner
