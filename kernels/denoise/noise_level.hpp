// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cpu_queue.hpp"
#include "kernels/queue/thread_counts.hpp"

#include <array>
#include <cstdint>

namespace runner {

/// How often each magnitude of a Haar coefficient occurs: a bin is the upper 20 bits of the
/// magnitude as float32 without its sign, so that it is 2^−12 of its values wide.
inline constexpr std::int64_t haar_bins = 1 << 20;

/// Layers [in_first, in_first + in_layers) of a volume are in the buffer; counted are the cubes
/// whose lower layers are in [first, first + layers).
struct HaarLayers {
    std::int64_t in_first = 0;
    std::int64_t in_layers = 0;
    std::int64_t first = 0;
    std::int64_t layers = 0;
};

/// Counts the diagonal coefficients of a volume (Z, Y, X) of float32: it is cut into cubes of
/// 2 × 2 × 2 voxels from its lowest corner on (a rest of one voxel is left out, an axis of one
/// voxel does not count), and each cube's coefficient is the difference along x, of these along y,
/// of these along z, lower less upper, times 2^(−axes/2). A cube whose voxels are all equal
/// says nothing of the noise and is not counted, nor is one that has a NaN. `bins` has haar_bins
/// counts. The same counts for every way to cut the layers.
void count_haar(CpuQueue& queue, const std::array<std::int64_t, 3>& volume,
                const HaarLayers& layers, const float* in, ThreadCounts& bins);

/// The bins that the two middle magnitudes are in: one bin twice where it has both, or the number
/// of magnitudes is odd. 0 where nothing was counted.
std::array<std::uint32_t, 2> middle_bins(const std::uint64_t* bins);

/// The values within a bin: the lower 11 bits.
inline constexpr std::int64_t haar_steps = 1 << 11;

/// Counts those coefficients that are in these bins by their values there: `steps` has haar_steps
/// counts for each of the two. Otherwise as count_haar().
void count_haar_steps(CpuQueue& queue, const std::array<std::int64_t, 3>& volume,
                      const HaarLayers& layers, const float* in,
                      const std::array<std::uint32_t, 2>& bins, ThreadCounts& steps);

/// All that is counted: haar_bins elements and then the steps of the middle ones, or zeros.
inline constexpr std::int64_t haar_counts = haar_bins + 2 * haar_steps;

/// The voxels of the cubes that are counted.
std::int64_t counted_voxels(const std::array<std::int64_t, 3>& volume, const std::uint64_t* counts);

/// The noise's standard deviation: the median magnitude (of an even number the mean of the two in
/// the middle) / 0.6745. Without steps the middles of bins are taken, which is right to 2^−13 of
/// itself. 0 where nothing was counted.
double noise_sigma(const std::uint64_t* counts);

} // namespace runner
