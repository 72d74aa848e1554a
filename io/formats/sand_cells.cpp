// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/sand_cells.hpp"

#include <array>
#include <cstring>

namespace runner {
namespace {

using FourCells = std::array<std::byte, 4>;

constexpr std::array<FourCells, 256> make_table() {
    std::array<FourCells, 256> table{};
    for (unsigned byte = 0; byte < table.size(); ++byte) {
        for (unsigned cell = 0; cell < 4; ++cell) {
            table[byte][cell] = static_cast<std::byte>(byte >> (2 * cell) & 3U);
        }
    }
    return table;
}

constexpr std::array<FourCells, 256> four_cells = make_table();

} // namespace

void unpack_cells(const std::byte* packed, std::int64_t skip, std::int64_t count,
                  std::byte* cells) {
    packed += skip / 4;
    if (const std::int64_t within = skip % 4; within != 0) {
        const std::int64_t some = std::min(4 - within, count);
        std::copy_n(four_cells[std::to_integer<std::size_t>(*packed++)].data() + within, some,
                    cells);
        cells += some;
        count -= some;
    }
    for (; count >= 4; count -= 4, cells += 4) {
        std::memcpy(cells, four_cells[std::to_integer<std::size_t>(*packed++)].data(), 4);
    }
    if (count > 0) {
        std::copy_n(four_cells[std::to_integer<std::size_t>(*packed)].data(), count, cells);
    }
}

void pack_cells(const std::byte* cells, std::int64_t count, std::byte* packed) {
    // Eight at a time: the lowest two bits of each byte are drawn together in pairs.
    for (; count >= 8; count -= 8, cells += 8, packed += 2) {
        std::uint64_t x;
        std::memcpy(&x, cells, 8);
        x = (x | x >> 6U) & 0x000F000F000F000FU;
        x |= x >> 12U;
        packed[0] = static_cast<std::byte>(x);
        packed[1] = static_cast<std::byte>(x >> 32U);
    }
    for (; count > 0; count -= 4, cells += 4) {
        std::byte byte{0};
        for (std::int64_t i = 0; i < std::min<std::int64_t>(count, 4); ++i) {
            byte |= cells[i] << (2 * i);
        }
        *packed++ = byte;
    }
}

SandRun bytes_of_rows(const SandShape& shape, std::int64_t first, std::int64_t rows) {
    if (rows == 0) {
        return {};
    }
    const auto byte_of = [&](std::int64_t row, std::int64_t cells) {
        return row / shape.height * shape.frame_bytes() + cells / 4;
    };
    const std::int64_t last = first + rows - 1;
    return {byte_of(first, first % shape.height * shape.width),
            byte_of(last, (last % shape.height + 1) * shape.width + 3)};
}

} // namespace runner
