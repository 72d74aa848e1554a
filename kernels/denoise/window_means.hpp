// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/held_layers.hpp"
#include "kernels/match/match.hpp"

#include <cstdint>

namespace runner {

/// Non-local means over whole windows: of a Match its volume, patch and window; a reference is
/// every corner, its candidates are all corners in its window, and none is chosen.
///
/// With D of the patches at r and r + o as Match says, that candidate weighs w(r, o) =
/// exp(−max(d − 2·sigma², 0) / (strength·sigma)²), d = D / (number of voxels of a patch); where
/// that divisor is 0, one for d ≤ 2·sigma² and nothing else. B(x, o) sums w(r, o) over the
/// references r whose patch covers the voxel x. The result is
/// v(x) + Σ (v(x + o) − v(x))·B(x, o) / Σ B(x, o) over the offsets o of the window: the weighted
/// mean of v(x + o), and v(x) itself where all are equal.
///
/// All is in float32 in one order, so that the result has the same bytes everywhere: B first along
/// z, these sums along y, then those along x, each from the lowest up; of the offsets first 0, then
/// each o after 0 in the order z, y, x and −o behind it, by fused fma.
struct WindowMeans {
    double sigma = 0;    ///< of the noise, ≥ 0
    double strength = 1; ///< ≥ 0
    /// No voxel has more. Weights are multiplied by a power of two so that no sum overflows.
    float magnitude = 0;
};

/// What window_means() counts on its queue, about what float32 operations it takes.
double window_means_operations(const Match& match, const HeldLayers& held);

/// out = the result in layers `held`. `volume` has the layers `in` (finite values, dense): at least
/// those that the windows and patches of `held` reach. Both are in the queue's device memory and
/// apart; on a CPU each thread takes up to 4 MiB beside. The CUDA form returns before the work is
/// done.
void window_means(CpuQueue& queue, const Match& match, const WindowMeans& means,
                  const HeldLayers& in, const float* volume, const HeldLayers& held, float* out);
void window_means(CudaQueue& queue, const Match& match, const WindowMeans& means,
                  const HeldLayers& in, const float* volume, const HeldLayers& held, float* out);

} // namespace runner
