// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/noise_level.hpp"

#include "kernels/denoise/haar_cubes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {

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

namespace {

constexpr int step_bits = 11;
constexpr std::uint32_t step_mask = haar_steps - 1;

/// Adds to `counts`, which has `size` elements: add(magnitude's bits, a thread's own counts).
template <class Add>
void count_magnitudes(CpuQueue& queue, const HaarCubes& cubes, const float* in, std::int64_t size,
                      std::uint64_t* counts, const Add& add) {
    constexpr std::int64_t block = 1 << 14;
    tbb::enumerable_thread_specific<std::vector<std::uint64_t>> all(
        [size] { return std::vector<std::uint64_t>(static_cast<std::size_t>(size)); });
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, cubes.all(), block), [&](const Range& range) {
            std::uint64_t* own = all.local().data();
            for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                if (!cubes.is_constant(in, i)) {
                    add(std::bit_cast<std::uint32_t>(std::abs(cubes.coefficient(in, i))), own);
                }
            }
        });
    });
    for (const auto& own : all) {
        std::transform(own.begin(), own.end(), counts, counts, std::plus<>());
    }
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
                const HaarLayers& layers, const float* in, std::uint64_t* bins) {
    count_magnitudes(
        queue, make_haar_cubes(volume, layers), in, haar_bins, bins,
        [](std::uint32_t magnitude, std::uint64_t* own) { ++own[magnitude >> step_bits]; });
}

std::array<std::uint32_t, 2> middle_bins(const std::uint64_t* bins) {
    const std::array<Rank, 2> ranks = middle_ranks(bins);
    return {ranks[0].bin, ranks[1].bin};
}

void count_haar_steps(CpuQueue& queue, const std::array<std::int64_t, 3>& volume,
                      const HaarLayers& layers, const float* in,
                      const std::array<std::uint32_t, 2>& bins, std::uint64_t* steps) {
    count_magnitudes(queue, make_haar_cubes(volume, layers), in, 2 * haar_steps, steps,
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
