// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/held_layers.hpp"
#include "kernels/match/match.hpp"

#include <cstdint>

namespace runner {

/// Collaborative filtering (BM4D, Maggioni and others 2013) from matches: two passes of the same
/// form.
///
/// A reference's group is its first 2^m matches, as many as there are of them; where that many
/// equal patches come before its own, this takes the place of the last, so that every voxel gets an
/// estimate. It is transformed along the group by Haar's transform of neighbours (mean and half of
/// the difference, then the same of the means), then along z, y and x of each patch by the
/// orthonormal DCT-II of the patch's extent, or, in the second of two bases, by orthonormal Haar
/// wavelets where that is 4 or 8. The pass goes on in the basis of less noise left, the cosines
/// where both leave as much. A coefficient that 2^e patches went into is its
/// orthonormal value times 2^(−e/2), and so are what it is compared with. What is left of the
/// coefficients is transformed back, and every patch of the group becomes an estimate of the volume
/// where that patch lies.
/// * First pass, hard threshold: coefficients whose orthonormal value is less than 2.7·sigma become
///   0, all but the mean of the whole group, which stays. The weight is 1 / (number left).
/// * Second pass, Wiener's filter: each is multiplied by W = c² / (c² + sigma²), with c the
///   orthonormal coefficient of the same group in the first pass' result; with sigma 0 by 1. The
///   weight is 1 / ΣW², no more than most_weight.
/// Weights are the inverse variances of what noise is left, times sigma². Estimates of patches
/// unlike the reference, whose distance is more than alike_noisy·sigma² in the first pass and
/// alike_first·sigma² in the second, have only unlike_part of it. Patches of equal content are
/// 2·sigma² apart in the first pass. An estimate's voxel has the weight once, and twice as much for
/// each axis along which it is not on its patch's border. A voxel of the result is
/// Σ weight·estimate / Σ weight of all estimates that cover it. So the match's step is at most its
/// patch, along each axis with more than one reference; its order is nearest_first.
///
/// All in float32, without fused multiply-adds and in one order, so that every queue makes the same
/// bytes; sums of estimates and of weights are of whole numbers, so that they depend on no order.
struct Bm4d {
    static constexpr std::int64_t most_values = 4096; ///< in a group: patch_voxels() · 2^m
    static constexpr float most_weight = 256;
    static constexpr double alike_noisy = 3;
    static constexpr double alike_first = 0.25;
    static constexpr double unlike_part = 0.125; ///< a power of two: its products are exact

    double sigma = 0;    ///< of the noise, ≥ 0
    int value_bits = 0;  ///< weighted estimates are whole numbers of 2^−value_bits
    int weight_bits = 0; ///< weights are whole numbers of 2^−weight_bits
};

/// The most bits with which no sum can overflow, for voxels of at most `magnitude`.
Bm4d make_bm4d(const Match& match, double sigma, float magnitude);

/// Matches that make a group, of so many that there are.
int bm4d_group(int matches);

/// Layers that a voxel's estimates depend on, on either side of it: those of the voxels that its
/// references' windows reach.
std::int64_t bm4d_reach(const Match& match);

/// The sums of layers `held`, device memory.
struct Bm4dSums {
    std::int64_t* values = nullptr; ///< one a voxel
    /// One a patch by its corner, that of its border's voxels, of layers [held.first − (patch − 1),
    /// held.first + held.layers): the patches that reach into `held`. Layers before the volume's
    /// first are there, too.
    std::int64_t* weights = nullptr;
};

/// How many weights that are.
std::int64_t bm4d_weights(const Match& match, const HeldLayers& held);

/// What is filtered; both buffers hold the layers that match_patches() had.
struct Bm4dVolumes {
    const float* noisy = nullptr;
    const float* first = nullptr; ///< the first pass' result; null: this is the first pass
};

/// sums = 0.
void clear_bm4d_sums(CpuQueue& queue, const Match& match, const HeldLayers& held,
                     const Bm4dSums& sums);
void clear_bm4d_sums(CudaQueue& queue, const Match& match, const HeldLayers& held,
                     const Bm4dSums& sums);

/// What add_bm4d_estimates() counts on its queue, about what float32 operations it takes.
double bm4d_operations(const Match& match, const MatchLayers& layers);

/// sums += the estimates of the references of `layers`, whose matches are `lists`, where they lie
/// in layers `held`. patch_voxels() · 2^m ≤ most_values for all 2^m ≤ match.count. All are in the
/// queue's device memory. The same sums on every queue and for every way to cut the references into
/// calls. The CUDA form returns before the work is done.
void add_bm4d_estimates(CpuQueue& queue, const Match& match, const MatchLayers& layers,
                        const Bm4d& bm4d, const Bm4dVolumes& volumes, const MatchLists& lists,
                        const HeldLayers& held, const Bm4dSums& sums);
void add_bm4d_estimates(CudaQueue& queue, const Match& match, const MatchLayers& layers,
                        const Bm4d& bm4d, const Bm4dVolumes& volumes, const MatchLists& lists,
                        const HeldLayers& held, const Bm4dSums& sums);

/// out = the result in layers `held`, once all references whose windows reach them were added.
/// Equal on every backend for equal sums.
void finish_bm4d(CpuQueue& queue, const Match& match, const Bm4d& bm4d, const HeldLayers& held,
                 const Bm4dSums& sums, float* out);
void finish_bm4d(CudaQueue& queue, const Match& match, const Bm4d& bm4d, const HeldLayers& held,
                 const Bm4dSums& sums, float* out);

} // namespace runner
