// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace runner::transpose_cuda {

/// A piece of a tile in a thread's registers: `rows` rows of `columns` elements, as 32-bit words.
template <int element, int rows, int columns> struct Micro {
    static constexpr int words = columns * element / 4;
    std::uint32_t row[rows][words];
};

/// The piece with rows and columns exchanged. Elements smaller than a word are gathered by byte
/// permutes.
template <int element, int rows, int columns>
__device__ Micro<element, columns, rows> exchanged(const Micro<element, rows, columns>& from) {
    Micro<element, columns, rows> to;
    if constexpr (element >= 4) {
        constexpr int parts = element / 4;
#pragma unroll
        for (int r = 0; r < rows; ++r) {
#pragma unroll
            for (int c = 0; c < columns * parts; ++c) {
                to.row[c / parts][r * parts + c % parts] = from.row[r][c];
            }
        }
    } else if constexpr (element == 2) {
#pragma unroll
        for (int r = 0; r < rows; r += 2) {
#pragma unroll
            for (int c = 0; c < columns; c += 2) {
                const std::uint32_t x = from.row[r][c / 2];
                const std::uint32_t y = from.row[r + 1][c / 2];
                to.row[c][r / 2] = __byte_perm(x, y, 0x5410);
                to.row[c + 1][r / 2] = __byte_perm(x, y, 0x7632);
            }
        }
    } else {
#pragma unroll
        for (int r = 0; r < rows; r += 4) {
#pragma unroll
            for (int c = 0; c < columns; c += 4) {
                const std::uint32_t low01 =
                    __byte_perm(from.row[r][c / 4], from.row[r + 1][c / 4], 0x5140);
                const std::uint32_t low23 =
                    __byte_perm(from.row[r + 2][c / 4], from.row[r + 3][c / 4], 0x5140);
                const std::uint32_t high01 =
                    __byte_perm(from.row[r][c / 4], from.row[r + 1][c / 4], 0x7362);
                const std::uint32_t high23 =
                    __byte_perm(from.row[r + 2][c / 4], from.row[r + 3][c / 4], 0x7362);
                to.row[c][r / 4] = __byte_perm(low01, low23, 0x5410);
                to.row[c + 1][r / 4] = __byte_perm(low01, low23, 0x7632);
                to.row[c + 2][r / 4] = __byte_perm(high01, high23, 0x5410);
                to.row[c + 3][r / 4] = __byte_perm(high01, high23, 0x7632);
            }
        }
    }
    return to;
}

} // namespace runner::transpose_cuda
