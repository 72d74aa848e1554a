// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/sand/sand.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

constexpr std::int64_t group_columns = 64;

/// Bit i of the result is bit 8i of `bytes`.
std::uint32_t gather_bits(std::uint64_t bytes) {
    return static_cast<std::uint32_t>(((bytes & 0x0101010101010101U) * 0x0102040810204080U) >> 56U);
}

/// Bit 8i of the result is bit i of the low 8 of `bits`.
std::uint64_t scatter_bits(std::uint32_t bits) {
    std::uint64_t x = bits & 0xFFU;
    x = (x | (x << 28U)) & 0x0000000F0000000FU;
    x = (x | (x << 14U)) & 0x0003000300030003U;
    return (x | (x << 7U)) & 0x0101010101010101U;
}

std::uint32_t even_bits(std::uint64_t bits) {
    bits &= 0x5555555555555555U;
    bits = (bits | (bits >> 1U)) & 0x3333333333333333U;
    bits = (bits | (bits >> 2U)) & 0x0F0F0F0F0F0F0F0FU;
    bits = (bits | (bits >> 4U)) & 0x00FF00FF00FF00FFU;
    bits = (bits | (bits >> 8U)) & 0x0000FFFF0000FFFFU;
    return static_cast<std::uint32_t>(bits | (bits >> 16U));
}

std::uint64_t spread_bits(std::uint32_t bits) {
    std::uint64_t x = bits;
    x = (x | (x << 16U)) & 0x0000FFFF0000FFFFU;
    x = (x | (x << 8U)) & 0x00FF00FF00FF00FFU;
    x = (x | (x << 4U)) & 0x0F0F0F0F0F0F0F0FU;
    x = (x | (x << 2U)) & 0x3333333333333333U;
    return (x | (x << 1U)) & 0x5555555555555555U;
}

/// Packs up to 64 cells; returns whether any is no material.
bool pack_group(const std::byte* cells, std::int64_t count, std::byte* group) {
    std::array<std::byte, group_columns> part{};
    const std::byte* all = cells;
    if (count < group_columns) {
        std::memcpy(part.data(), cells, static_cast<std::size_t>(count));
        all = part.data();
    }
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < 8; ++i) {
        std::uint64_t eight;
        std::memcpy(&eight, all + 8 * i, 8);
        wrong |= eight & 0xFCFCFCFCFCFCFCFCU;
        low |= static_cast<std::uint64_t>(gather_bits(eight)) << (8 * i);
        high |= static_cast<std::uint64_t>(gather_bits(eight >> 1U)) << (8 * i);
    }
    const std::array<std::uint32_t, 4> words = {even_bits(high), even_bits(low),
                                                even_bits(high >> 1U), even_bits(low >> 1U)};
    std::memcpy(group, words.data(), sizeof(words));
    return wrong != 0;
}

void unpack_group(const std::byte* group, std::int64_t count, std::byte* cells) {
    std::array<std::uint32_t, 4> words;
    std::memcpy(words.data(), group, sizeof(words));
    const std::uint64_t high = spread_bits(words[0]) | (spread_bits(words[2]) << 1U);
    const std::uint64_t low = spread_bits(words[1]) | (spread_bits(words[3]) << 1U);
    std::array<std::uint64_t, 8> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = scatter_bits(static_cast<std::uint32_t>(low >> (8 * i))) |
                 (scatter_bits(static_cast<std::uint32_t>(high >> (8 * i))) << 1U);
    }
    std::memcpy(cells, all.data(), static_cast<std::size_t>(count));
}

void keep_least(std::atomic<std::int64_t>& least, std::int64_t value) {
    std::int64_t seen = least.load();
    while (value < seen && !least.compare_exchange_weak(seen, value)) {
    }
}

/// The index in the row of its first cell that is no material, or `columns`.
std::int64_t pack_row(std::int64_t columns, const std::byte* cells, std::byte* state) {
    std::int64_t first_wrong = columns;
    for (std::int64_t x = 0; x < columns; x += group_columns) {
        const std::int64_t count = std::min(group_columns, columns - x);
        const bool wrong = pack_group(cells + x, count, state + x / group_columns * 16);
        if (wrong && first_wrong == columns) {
            const std::byte* found = std::find_if(
                cells + x, cells + x + count, [](std::byte cell) { return cell > std::byte{3}; });
            first_wrong = found - cells;
        }
    }
    return first_wrong;
}

} // namespace

void pack_sand(CpuQueue& queue, std::int64_t rows, std::int64_t columns, const std::byte* cells,
               std::byte* state, std::int64_t* first_wrong) {
    std::atomic<std::int64_t> least{rows * columns};
    queue.run([&] {
        tbb::parallel_for(std::int64_t{0}, rows, [&](std::int64_t y) {
            const std::int64_t wrong =
                pack_row(columns, cells + y * columns, state + y * sand_row_bytes(columns));
            if (wrong < columns) {
                keep_least(least, y * columns + wrong);
            }
        });
    });
    *first_wrong = least.load();
}

void unpack_sand(CpuQueue& queue, std::int64_t rows, std::int64_t columns, const std::byte* state,
                 std::byte* cells) {
    queue.run([&] {
        tbb::parallel_for(std::int64_t{0}, rows, [&](std::int64_t y) {
            const std::byte* row = state + y * sand_row_bytes(columns);
            for (std::int64_t x = 0; x < columns; x += group_columns) {
                unpack_group(row + x / group_columns * 16, std::min(group_columns, columns - x),
                             cells + y * columns + x);
            }
        });
    });
}

} // namespace runner
