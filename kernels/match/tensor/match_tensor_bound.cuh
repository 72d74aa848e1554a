// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/tensor/match_tensor_tile.cuh"

namespace runner::match_cuda {

/// The floats of all lanes, sorted.
__device__ inline float sort_floats(float value) {
    const auto lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
    for (int run = 2; run <= 32; run *= 2) {
#pragma unroll
        for (int apart = run / 2; apart > 0; apart /= 2) {
            const float theirs = __shfl_xor_sync(whole_warp, value, apart);
            const bool least = ((lane & run) == 0) == ((lane & apart) == 0);
            value = least ? fminf(value, theirs) : fmaxf(value, theirs);
        }
    }
    return value;
}

/// A value that at least `count` ≤ 16 columns do not exceed, and not many more: of the least of
/// each lane's columns.
__device__ inline float least_of_lanes(const float (&columns)[4], int count) {
    const float least = fminf(fminf(columns[0], columns[1]), fminf(columns[2], columns[3]));
    return __shfl_sync(whole_warp, sort_floats(least), count - 1);
}

/// The same for any count, by halving: no more than 2^-12 above the `count`th of them.
__device__ inline float least_by_halving(const float (&columns)[4], int count) {
    // Bits of floats ≥ 0 order as the floats.
    std::uint32_t bits[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        bits[i] = __float_as_uint(fmaxf(columns[i], 0.0F));
    }
    constexpr std::uint32_t last = 1U << 11;
    std::uint32_t low = 0;
#pragma unroll 1
    for (std::uint32_t bit = 1U << 30; bit >= last; bit /= 2) {
        int less = 0;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            less += __popc(__ballot_sync(whole_warp, bits[i] < low + bit));
        }
        low += less < count ? bit : 0;
    }
    return __uint_as_float(min(low + last, 0x7F800000U));
}

/// What |b|² − 2ab of any candidate that can be a match does not exceed, where `count` candidates
/// have no more than `value` less |a|². a and b are patches of halves, A and B those of voxels,
/// scaled; D(A, B) is the distance that counts.
///
/// * The tensor cores and the norms err by at most 2^-16.5 · (2|b|² + |a|²): 80 additions in single
///   precision, each cut off, of sums and products that are no greater. With |b| ≤ |a| + √D(a, b)
///   that is at most 2^-16.5 · (5|a|² + 4 D(a, b)).
/// * √D(A, B) and √D(a, b) differ by at most |A − a| + |B − b|, as distances do. A voxel is at most
///   2048, so its half errs by at most 0.5, and by 2^-11 of itself.
/// * D(A, B) as it is summed errs by less than 2^-20 of itself.
///
/// So the `count`th has √D(A, B) ≤ R + 2e, and what is as near has √D(a, b) ≤ R + 4e.
__device__ inline float bound_of_near(float value, float norm) {
    const float distance = (fmaxf(value, 0.0F) + 5.5e-5F * norm) * 1.0001F;
    const float root = sqrtf(distance) * 1.000001F;
    const float length = sqrtf(norm);
    const float each = fminf(4.01F, 5.5e-4F * (length + root) + 2e-6F);
    const float most = (root + 4 * each) * 1.00001F + 1e-5F;
    const float bound = most * most * 1.0001F + (5.5e-5F * norm - norm);
    // Corners outside of the volume have infinity.
    return bound < 3e38F ? bound : 3e38F;
}

/// The bounds of all references, one for each warp.
__device__ inline void find_bounds(const MatchCall& call, const SparseReference& reference,
                                   TensorRoom& room) {
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const auto warp = static_cast<int>(threadIdx.x / 32);
    const float norm =
        room.norms[(static_cast<int>(call.half[0]) + reference.ahead[0]) *
                       TensorShape::norms_layer +
                   (static_cast<int>(call.half[1]) + reference.ahead[1]) * TensorShape::norms_row +
                   paired(static_cast<int>(call.half[2]) + reference.ahead[2])];
    float columns[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        columns[i] = room.columns[warp].least[lane + 32 * i] + norm;
    }
    const float value = call.count <= 16 ? least_of_lanes(columns, call.count)
                                         : least_by_halving(columns, call.count);
    if (lane == 0) {
        room.bound[warp] = bound_of_near(value, norm);
        room.near[warp] = 0;
    }
}

} // namespace runner::match_cuda
