// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/held_layers.hpp"
#include "kernels/match/match.hpp"

#include <cstdint>

namespace runner {

/// Non-local means from matches. A match at distance d weighs
/// exp(−max(d − 2·sigma², 0) / (strength·sigma)²), where that divisor is 0 one for d ≤ 2·sigma² and
/// nothing else; the estimate of a reference's patch is the weighted mean of its matches' patches;
/// a voxel of the result is the plain mean of all estimates that cover it. So the match's step is
/// at most its patch, along each axis with more than one reference.
struct Nlm {
    double sigma = 0;    ///< of the noise, ≥ 0
    double strength = 1; ///< ≥ 0
    /// Estimates are added as whole numbers of 2^−fraction_bits, so that a sum depends on no order.
    int fraction_bits = 0;
};

/// The most fraction bits with which estimates of at most `magnitude` cannot overflow a sum.
int nlm_fraction_bits(float magnitude);

/// sums = 0, `count` of them.
void clear_nlm_sums(CpuQueue& queue, std::int64_t count, std::int64_t* sums);
void clear_nlm_sums(CudaQueue& queue, std::int64_t count, std::int64_t* sums);

/// What add_nlm_estimates() counts on its queue, about what float32 operations it takes.
double nlm_operations(const Match& match, const MatchLayers& layers);

/// sums += the estimates of the references of `layers`, whose matches are `lists`, where they lie
/// in layers `held`. `volume` is what match_patches() had; `sums` has an element a voxel of `held`.
/// All are in the queue's device memory. The same sums on every queue and for every way to cut the
/// references into calls. The CUDA form returns before the work is done.
void add_nlm_estimates(CpuQueue& queue, const Match& match, const MatchLayers& layers,
                       const Nlm& nlm, const float* volume, const MatchLists& lists,
                       const HeldLayers& held, std::int64_t* sums);
void add_nlm_estimates(CudaQueue& queue, const Match& match, const MatchLayers& layers,
                       const Nlm& nlm, const float* volume, const MatchLists& lists,
                       const HeldLayers& held, std::int64_t* sums);

/// out = the means of layers `held`, once all references that cover them were added. Equal on
/// every backend for equal sums.
void finish_nlm(CpuQueue& queue, const Match& match, const Nlm& nlm, const HeldLayers& held,
                const std::int64_t* sums, float* out);
void finish_nlm(CudaQueue& queue, const Match& match, const Nlm& nlm, const HeldLayers& held,
                const std::int64_t* sums, float* out);

} // namespace runner
