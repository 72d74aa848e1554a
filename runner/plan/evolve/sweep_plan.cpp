// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/evolve/sweep_plan.hpp"

#include "base/rounding.hpp"
#include "base/sizes.hpp"

#include <algorithm>
#include <array>

namespace runner {
namespace {

constexpr std::array<std::int64_t, 15> usual_depths = {1,  2,  3,  4,  8,   12,  16, 24,
                                                       32, 48, 64, 96, 128, 192, 256};
constexpr std::int64_t fewest_bands = 8;
constexpr std::int64_t least_band_depths = 16;
constexpr std::int64_t largest_cpu_band_bytes = 64 * MiB;

/// Generations that can be computed while the state is moved once, there and back. On a GPU 0.5 B a
/// cell take 10 to 20 ps through the link and some 250 ps through a file at 2 GB/s, a generation
/// 0.12 to 0.3 ps (docs/kernels-sand.md); a CPU computes a hundred times slower.
std::int64_t moving_generations(Backend backend, StateHome home) {
    if (backend == Backend::cuda) {
        return home == StateHome::host ? 96 : 512;
    }
    return home == StateHome::host ? 8 : 32;
}

} // namespace

std::string_view name_of(StateHome home) {
    switch (home) {
    case StateHome::device: return "device";
    case StateHome::host: return "host";
    case StateHome::disk: break;
    }
    return "disk";
}

int sweep_lanes(Backend backend, StateHome home) {
    if (home == StateHome::disk) {
        return 3;
    }
    return backend == Backend::cuda ? 2 : 1; // a CPU copies and computes with the same threads
}

std::vector<std::int64_t> sweep_depths(std::int64_t most) {
    most = std::clamp<std::int64_t>(most, 1, usual_depths.back());
    std::vector<std::int64_t> depths;
    for (const std::int64_t depth : usual_depths) {
        if (depth < most) {
            depths.push_back(depth);
        }
    }
    depths.push_back(most);
    return depths;
}

std::int64_t useful_band(Backend backend, std::int64_t depth, std::int64_t fitting,
                         std::int64_t slab_rows, std::int64_t row_bytes) {
    const std::int64_t least = least_band_depths * depth;
    std::int64_t most = std::max(least, ceil_divide(slab_rows, fewest_bands));
    if (backend == Backend::cpu) {
        most = std::min(most, std::max(least, largest_cpu_band_bytes / row_bytes));
    }
    const std::int64_t rows = std::clamp<std::int64_t>(std::min(fitting, most), 1, slab_rows);
    return ceil_divide(slab_rows, ceil_divide(slab_rows, rows));
}

double sweep_cost(Backend backend, StateHome home, const Sweep& sweep, std::int64_t slab_rows) {
    const auto depth = static_cast<double>(sweep.depth);
    const double again =
        sweep.band_rows < slab_rows ? depth / static_cast<double>(sweep.band_rows) : 0;
    return std::max(1 + again, static_cast<double>(moving_generations(backend, home)) / depth);
}

std::vector<RowRange> bands_of(RowRange slab, std::int64_t band_rows) {
    std::vector<RowRange> bands;
    for (std::int64_t first = slab.first; first < slab.last; first += band_rows) {
        bands.push_back({first, std::min(first + band_rows, slab.last)});
    }
    return bands;
}

RowRange band_window(RowRange band, std::int64_t generations, std::int64_t rows) {
    return {std::max<std::int64_t>(0, band.first - generations),
            std::min(rows, band.last + generations)};
}

} // namespace runner
