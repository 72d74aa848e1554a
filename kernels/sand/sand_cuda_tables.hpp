// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace runner {

/// The tables of the CUDA form: for each column offset of the blocks and each group of 64 columns
/// the sixteen planes of the x parts of its 32 blocks.
constexpr std::int64_t sand_cuda_table_bytes(std::int64_t columns) {
    return 2 * ((columns + 63) / 64) * 16 * 4;
}

} // namespace runner
