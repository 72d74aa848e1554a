// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/denoise_bm4d.hpp"

#include "base/rounding.hpp"
#include "kernels/denoise/denoise_bm4d_call.hpp"
#include "kernels/denoise/denoise_bm4d_group.hpp"
#include "kernels/denoise/denoise_nlm.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// Rounded once to float32, and none of them is near a half: any C library makes the same.
DctTable make_table(int n) {
    DctTable table{};
    for (int k = 0; k < n; ++k) {
        for (int j = 0; j < n; ++j) {
            const double angle = std::numbers::pi * (2 * j + 1) * k / (2 * n);
            table.row[k][j] =
                static_cast<float>(std::sqrt((k == 0 ? 1.0 : 2.0) / n) * std::cos(angle));
        }
    }
    return table;
}

/// The most estimates that cover a voxel: those of all references whose windows reach it.
double most_estimates(const Match& match) {
    const auto grid = match_grid(match);
    double most =
        std::min<double>(bm4d_group(match.count), static_cast<double>(match.patch_voxels()));
    for (std::size_t i = 0; i < 3; ++i) {
        const std::int64_t reached = match.patch[i] + match.window[i] - 1;
        most *= static_cast<double>(std::min(grid[i], reached / match.step + 2));
    }
    return most;
}

/// The exponent of a power of two that is more.
int exponent_above(double value) {
    int exponent = 0;
    std::frexp(value, &exponent);
    return exponent;
}

/// Blocks of references of eight colours: those of one are so far apart along some axis that no
/// patch of one's groups overlaps one of another's, so threads never meet in a sum.
struct ColouredBlocks {
    std::array<std::int64_t, 3> side{};
    std::array<std::int64_t, 3> pairs{}; ///< of blocks along each axis

    explicit ColouredBlocks(const MatchCall& match) {
        constexpr std::int64_t least_row = 16;
        for (int i = 0; i < 3; ++i) {
            const auto axis = static_cast<std::size_t>(i);
            // The last reference may be just behind the one before.
            side[axis] = ceil_divide(2 * match.half[i] + match.patch[i] - 1, match.step);
            side[axis] = std::max<std::int64_t>(side[axis], i == 2 ? least_row : 1);
            pairs[axis] = ceil_divide(match.grid[i], 2 * side[axis]);
        }
    }

    std::int64_t count() const { return pairs[0] * pairs[1] * pairs[2]; }

    /// References [first, end) along each axis of block `i` of a colour.
    std::array<std::array<std::int64_t, 2>, 3> block(std::int64_t i, unsigned colour,
                                                     const MatchCall& match) const {
        const std::array<std::int64_t, 3> pair = {i / pairs[2] / pairs[1], i / pairs[2] % pairs[1],
                                                  i % pairs[2]};
        std::array<std::array<std::int64_t, 2>, 3> range{};
        for (std::size_t k = 0; k < 3; ++k) {
            const std::int64_t first = (2 * pair[k] + (colour >> k & 1U)) * side[k];
            range[k] = {first, std::min(first + side[k], match.grid[k])};
        }
        return range;
    }
};

/// One line of the result.
void finish_line(const Bm4dCall& call, const Bm4dSums& sums, std::int64_t layer, std::int64_t line,
                 std::int64_t* weights, float* out) {
    const std::int64_t row = call.match.volume[2];
    const std::int64_t before = call.match.patch[2] - 1; // zeros
    std::fill(weights, weights + before + row, 0);
    const auto [pz, py, px] = call.match.patch;
    for (int z = 0; z < pz; ++z) {
        for (int y = 0; y < py && y <= line; ++y) {
            const int window = bm4d_window(z, pz) * bm4d_window(y, py);
            const std::int64_t* from =
                sums.weights + ((layer + z) * call.match.volume[1] + line - y) * row;
            for (std::int64_t x = 0; x < row; ++x) {
                weights[before + x] += window * from[x];
            }
        }
    }
    const std::int64_t first = (layer * call.match.volume[1] + line) * row;
    for (std::int64_t x = 0; x < row; ++x) {
        std::int64_t weight = 0;
        for (int i = 0; i < px; ++i) {
            weight += bm4d_window(i, px) * weights[x + i];
        }
        out[first + x] = call.mean(sums.values[first + x], weight);
    }
}

} // namespace

int bm4d_group(int matches) {
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(matches)));
}

std::int64_t bm4d_reach(const Match& match) {
    const std::int64_t last = match.volume[0] - match.patch[0];
    return 2 * std::min(match.window[0] / 2, last) + match.patch[0] - 1;
}

std::int64_t bm4d_weights(const Match& match, const HeldLayers& held) {
    return (held.layers + match.patch[0] - 1) * match.volume[1] * match.volume[2];
}

Bm4d make_bm4d(const Match& match, double sigma, float magnitude) {
    const int covering = exponent_above(most_estimates(match));
    const int weight = exponent_above(static_cast<double>(Bm4d::most_weight));
    // A voxel of a group that lost coefficients is at most the group's norm.
    const double values = static_cast<double>(match.patch_voxels()) * bm4d_group(match.count);
    const int value = exponent_above(static_cast<double>(magnitude) * std::sqrt(values));
    const auto window =
        static_cast<int>(std::ranges::count_if(match.patch, [](int extent) { return extent > 2; }));
    Bm4d bm4d;
    bm4d.sigma = sigma;
    bm4d.weight_bits = 62 - covering - weight - window;
    bm4d.value_bits = std::clamp(bm4d.weight_bits - value, -900, 900);
    return bm4d;
}

Bm4dCall make_bm4d_call(const Match& match, const MatchLayers& layers, const Bm4d& bm4d,
                        const HeldLayers& held) {
    Bm4dCall call{};
    call.match = make_match_call(match, layers);
    call.held_first = held.first;
    call.held_layers = held.layers;
    call.patch_voxels = match.patch_voxels();
    call.has_wavelets = std::ranges::any_of(match.patch, has_wavelets);
    for (int e = 0; e < Bm4dCall::exponents; ++e) {
        const double scale = std::sqrt(std::ldexp(1.0, e));
        call.threshold[e] = static_cast<float>(2.7 * bm4d.sigma / scale);
        call.inverse_sigma[e] = static_cast<float>(scale / bm4d.sigma);
    }
    call.alike_noisy = static_cast<float>(Bm4d::alike_noisy * bm4d.sigma * bm4d.sigma);
    call.alike_first = static_cast<float>(Bm4d::alike_first * bm4d.sigma * bm4d.sigma);
    call.value_unit = std::ldexp(1.0, bm4d.value_bits);
    call.weight_unit = std::ldexp(1.0, bm4d.weight_bits);
    call.weight_in_values = std::ldexp(1.0, bm4d.weight_bits - bm4d.value_bits);
    for (std::size_t i = 0; i < 3; ++i) {
        call.table[i] = make_table(match.patch[i]);
    }
    return call;
}

double bm4d_operations(const Match& match, const MatchLayers& layers) {
    const Bm4dCall call = make_bm4d_call(match, layers, {}, {});
    return static_cast<double>(call.match.rows()) * call.operations();
}

void clear_bm4d_sums(CpuQueue& queue, const Match& match, const HeldLayers& held,
                     const Bm4dSums& sums) {
    clear_nlm_sums(queue, held.layers * match.volume[1] * match.volume[2], sums.values);
    clear_nlm_sums(queue, bm4d_weights(match, held), sums.weights);
}

void add_bm4d_estimates(CpuQueue& queue, const Match& match, const MatchLayers& layers,
                        const Bm4d& bm4d, const Bm4dVolumes& volumes, const MatchLists& lists,
                        const HeldLayers& held, const Bm4dSums& sums) {
    const Bm4dCall call = make_bm4d_call(match, layers, bm4d, held);
    const ColouredBlocks blocks(call.match);
    tbb::enumerable_thread_specific<GroupFilter> filters(
        [&] { return GroupFilter(call, volumes, lists, sums); });
    const auto& grid = call.match.grid;
    const auto colour_blocks = [&](unsigned colour) {
        using Range = tbb::blocked_range<std::int64_t>;
        tbb::parallel_for(Range(0, blocks.count(), 1), [&](const Range& range) {
            GroupFilter& filter = filters.local();
            for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                const auto [z, y, x] = blocks.block(i, colour, call.match);
                for (std::int64_t k = z[0]; k < z[1]; ++k) {
                    for (std::int64_t j = y[0]; j < y[1]; ++j) {
                        for (std::int64_t h = x[0]; h < x[1]; ++h) {
                            filter.add((k * grid[1] + j) * grid[2] + h);
                        }
                        const std::int64_t groups = std::max<std::int64_t>(0, x[1] - x[0]);
                        queue.count(static_cast<double>(groups) * call.operations());
                    }
                }
            }
        });
    };
    queue.run([&] {
        for (unsigned colour = 0; colour < 8; ++colour) {
            colour_blocks(colour);
        }
    });
}

void finish_bm4d(CpuQueue& queue, const Match& match, const Bm4d& bm4d, const HeldLayers& held,
                 const Bm4dSums& sums, float* out) {
    const Bm4dCall call = make_bm4d_call(match, {}, bm4d, held);
    const std::int64_t lines = match.volume[1];
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, held.layers * lines), [&](const Range& range) {
            std::vector<std::int64_t> weights(
                static_cast<std::size_t>(match.volume[2] + match.patch[2] - 1));
            for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                finish_line(call, sums, i / lines, i % lines, weights.data(), out);
            }
        });
    });
}

} // namespace runner
