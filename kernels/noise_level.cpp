// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/noise_level.hpp"

#include "kernels/haar_cubes.hpp"

#include <algorithm>
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

void count_haar(CpuQueue& queue, const std::array<std::int64_t, 3>& volume,
                const HaarLayers& layers, const float* in, std::uint64_t* bins) {
    const HaarCubes cubes = make_haar_cubes(volume, layers);
    constexpr std::int64_t block = 1 << 14;
    tbb::enumerable_thread_specific<std::vector<std::uint64_t>> counts(
        [] { return std::vector<std::uint64_t>(static_cast<std::size_t>(haar_bins)); });
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, cubes.all(), block), [&](const Range& range) {
            std::uint64_t* own = counts.local().data();
            for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                const float magnitude = std::abs(cubes.coefficient(in, i));
                ++own[std::bit_cast<std::uint32_t>(magnitude) >> 11];
            }
        });
    });
    for (const auto& own : counts) {
        std::transform(own.begin(), own.end(), bins, bins, std::plus<>());
    }
}

double noise_sigma(const std::uint64_t* bins) {
    const std::uint64_t all = std::accumulate(bins, bins + haar_bins, std::uint64_t{0});
    if (all == 0) {
        return 0;
    }
    std::uint64_t below = 0;
    std::uint32_t bin = 0;
    while (below + bins[bin] <= all / 2) {
        below += bins[bin];
        ++bin;
    }
    // The middle of the bin, but 0 is 0.
    const float median = bin == 0 ? 0.0F : std::bit_cast<float>(bin << 11 | 1U << 10);
    return static_cast<double>(median) / 0.6745;
}

} // namespace runner
