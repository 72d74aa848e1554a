// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/noise_level.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// The cubes of one call of count_haar(). Extents are z, y, x.
struct HaarCubes {
    std::int64_t volume[3];
    std::int64_t count[3]; ///< of cubes; along z of this call
    std::int64_t side[3];  ///< 2, or 1 along an axis of one voxel
    std::int64_t first;    ///< the first cube's layer in the buffer
    float scale;

    /// The lowest corner of the first cube of row `row`, counted through all layers.
    constexpr const float* row(const float* in, std::int64_t row) const {
        const std::int64_t z = first + row / count[1] * side[0];
        return in + (z * volume[1] + row % count[1] * side[1]) * volume[2];
    }

    /// The coefficient of the cube whose lowest corner is at `at`.
    constexpr float coefficient(const float* at) const {
        const float low = difference_y(at);
        return (side[0] == 2 ? low - difference_y(at + volume[1] * volume[2]) : low) * scale;
    }

    /// Whether all voxels of that cube are equal, which says nothing of the noise.
    constexpr bool is_constant(const float* at) const {
        for (std::int64_t z = 0; z < side[0]; ++z) {
            for (std::int64_t y = 0; y < side[1]; ++y) {
                const float* line = at + (z * volume[1] + y) * volume[2];
                if (line[0] != at[0] || line[side[2] - 1] != at[0]) {
                    return false;
                }
            }
        }
        return true;
    }

    /// Whether one of its voxels is NaN.
    bool has_nan(const float* at) const {
        for (std::int64_t z = 0; z < side[0]; ++z) {
            for (std::int64_t y = 0; y < side[1]; ++y) {
                const float* line = at + (z * volume[1] + y) * volume[2];
                if (std::isnan(line[0]) || std::isnan(line[side[2] - 1])) {
                    return true;
                }
            }
        }
        return false;
    }

  private:
    constexpr float difference_x(const float* at) const {
        return side[2] == 2 ? at[0] - at[1] : at[0];
    }
    constexpr float difference_y(const float* at) const {
        const float low = difference_x(at);
        return side[1] == 2 ? low - difference_x(at + volume[2]) : low;
    }
};

HaarCubes make_haar_cubes(const std::array<std::int64_t, 3>& volume, const HaarLayers& layers) {
    HaarCubes cubes{};
    int axes = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        cubes.volume[i] = volume[i];
        cubes.side[i] = volume[i] > 1 ? 2 : 1;
        cubes.count[i] = volume[i] / cubes.side[i];
        axes += volume[i] > 1 ? 1 : 0;
    }
    // Cube i begins at layer i · side: those that begin before a layer.
    const std::int64_t side = cubes.side[0];
    const auto before = [&](std::int64_t layer) {
        return std::clamp<std::int64_t>((layer + side - 1) / side, 0, volume[0] / side);
    };
    const std::int64_t first = before(layers.first);
    cubes.count[0] = before(layers.first + layers.layers) - first;
    cubes.first = first * side - layers.in_first;
    cubes.scale = static_cast<float>(std::pow(2.0, -0.5 * axes));
    return cubes;
}

constexpr int step_bits = 11;
constexpr std::uint32_t step_mask = haar_steps - 1;

/// Calls add(a magnitude's bits, the thread's own counts) for each cube.
template <class Add>
void count_magnitudes(CpuQueue& queue, const HaarCubes& cubes, const float* in,
                      ThreadCounts& counts, const Add& add) {
    constexpr std::int64_t block = 1 << 14; // cubes
    const std::int64_t rows = cubes.count[0] * cubes.count[1];
    const auto grain = static_cast<std::size_t>(
        std::max<std::int64_t>(1, block / std::max<std::int64_t>(1, cubes.count[2])));
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, rows, grain), [&](const Range& range) {
            std::uint64_t* own = counts.own();
            for (std::int64_t row = range.begin(); row < range.end(); ++row) {
                const float* at = cubes.row(in, row);
                for (std::int64_t i = 0; i < cubes.count[2]; ++i, at += cubes.side[2]) {
                    const float magnitude = std::abs(cubes.coefficient(at));
                    // A cube of finite voxels has NaN too, where its differences overflow.
                    const bool has_nan = std::isnan(magnitude) && cubes.has_nan(at);
                    if (!has_nan && !cubes.is_constant(at)) {
                        add(std::bit_cast<std::uint32_t>(magnitude), own);
                    }
                }
            }
        });
    });
}

/// A bin and how many of its elements come before the one that is meant.
struct Rank {
    std::uint32_t bin = 0;
    std::uint64_t before = 0;
};

/// The two magnitudes in the middle.
std::array<Rank, 2> middle_ranks(const std::uint64_t* bins) {
    const std::uint64_t all = std::accumulate(bins, bins + haar_bins, std::uint64_t{0});
    std::array<Rank, 2> ranks{};
    if (all == 0) {
        return ranks;
    }
    ranks[0].before = (all - 1) / 2;
    ranks[1].before = all / 2;
    for (Rank& rank : ranks) {
        while (bins[rank.bin] <= rank.before) {
            rank.before -= bins[rank.bin];
            ++rank.bin;
        }
    }
    return ranks;
}

/// The middle of the bin where there are no steps, but 0 is 0.
double magnitude_at(const Rank& rank, const std::uint64_t* steps) {
    std::uint32_t step = 0;
    std::uint64_t before = 0;
    while (step < haar_steps && before + steps[step] <= rank.before) {
        before += steps[step];
        ++step;
    }
    if (step == haar_steps) {
        step = rank.bin == 0 ? 0 : haar_steps / 2;
    }
    return static_cast<double>(std::bit_cast<float>(rank.bin << step_bits | step));
}

} // namespace

void count_haar(CpuQueue& queue, const std::array<std::int64_t, 3>& volume,
                const HaarLayers& layers, const float* in, ThreadCounts& bins) {
    count_magnitudes(
        queue, make_haar_cubes(volume, layers), in, bins,
        [](std::uint32_t magnitude, std::uint64_t* own) { ++own[magnitude >> step_bits]; });
}

std::array<std::uint32_t, 2> middle_bins(const std::uint64_t* bins) {
    const std::array<Rank, 2> ranks = middle_ranks(bins);
    return {ranks[0].bin, ranks[1].bin};
}

void count_haar_steps(CpuQueue& queue, const std::array<std::int64_t, 3>& volume,
                      const HaarLayers& layers, const float* in,
                      const std::array<std::uint32_t, 2>& bins, ThreadCounts& steps) {
    count_magnitudes(queue, make_haar_cubes(volume, layers), in, steps,
                     [&](std::uint32_t magnitude, std::uint64_t* own) {
                         for (std::size_t i = 0; i < bins.size(); ++i) {
                             if (magnitude >> step_bits == bins[i]) {
                                 ++own[i * haar_steps + (magnitude & step_mask)];
                             }
                         }
                     });
}

std::int64_t counted_voxels(const std::array<std::int64_t, 3>& volume,
                            const std::uint64_t* counts) {
    const HaarCubes cubes = make_haar_cubes(volume, {});
    return static_cast<std::int64_t>(
               std::accumulate(counts, counts + haar_bins, std::uint64_t{0})) *
           cubes.side[0] * cubes.side[1] * cubes.side[2];
}

double noise_sigma(const std::uint64_t* counts) {
    const std::array<Rank, 2> ranks = middle_ranks(counts);
    double sum = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        sum += magnitude_at(ranks[i], counts + haar_bins + i * haar_steps);
    }
    return sum / 2 / 0.6745;
}

} // namespace runner
