// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/sand/sand.hpp"

#include "kernels/sand/sand_cuda_tables.hpp"
#include "kernels/sand/sand_tile.hpp"

#include <algorithm>

namespace runner {

std::uint32_t sand_threshold(double chance) {
    const auto wanted = static_cast<float>(chance);
    std::uint32_t low = 0;
    std::uint32_t high = 65536;
    while (low < high) {
        const std::uint32_t middle = (low + high) / 2;
        if (static_cast<float>(middle) / 65535.0F >= wanted) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

SandBand sand_rows_after(const Sand& sand, const SandBand& band, std::int64_t generations) {
    const std::int64_t end = band.first_row + band.rows;
    const std::int64_t first = band.first_row == 0 ? 0 : band.first_row + generations;
    const std::int64_t last = end == sand.rows ? end : end - generations;
    return {first, std::max<std::int64_t>(0, last - first)};
}

std::int64_t sand_table_bytes(Backend backend, const Sand& sand) {
    return backend == Backend::cuda ? sand_cuda_table_bytes(sand.columns)
                                    : sand_cpu_table_bytes(sand.columns);
}

} // namespace runner
