// SPDX-License-Identifier: BSD-3-Clause
#include "bench/kernels/baselines/sand_block.hpp"
#include "bench/kernels/baselines/sand_bytes.hpp"
#include "kernels/sand/sand_hash.hpp"

namespace runner {

void advance_sand_sequential(const Sand& sand, std::uint64_t generation, std::int64_t generations,
                             std::uint8_t* cells) {
    using namespace sand_baseline;
    const Thresholds thresholds = thresholds_of(sand);
    for (std::int64_t g = 0; g < generations; ++g, ++generation) {
        // Downwards in place: the floor of a block is still that of the generation before.
        for (std::int64_t y = sand_row_offset(generation); y + 1 < sand.rows; y += 2) {
            std::uint8_t* upper = cells + y * sand.columns;
            std::uint8_t* lower = upper + sand.columns;
            const std::uint8_t* floor = y + 2 < sand.rows ? lower + sand.columns : nullptr;
            for (std::int64_t x = sand_column_offset(generation); x + 1 < sand.columns; x += 2) {
                Block block{upper[x], upper[x + 1], lower[x], lower[x + 1],
                            floor == nullptr || (floor[x] >= 1 && floor[x + 1] >= 1)};
                const Place place{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                                  static_cast<std::uint32_t>(generation), sand.seed};
                step_with_branches(block, place, thresholds);
                upper[x] = static_cast<std::uint8_t>(block.tl);
                upper[x + 1] = static_cast<std::uint8_t>(block.tr);
                lower[x] = static_cast<std::uint8_t>(block.bl);
                lower[x + 1] = static_cast<std::uint8_t>(block.br);
            }
        }
    }
}

} // namespace runner
