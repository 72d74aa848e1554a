// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace runner {

/// The numbers of one call of match_patches(), for both backends. Places and extents are z, y, x.
struct MatchCall {
    std::int64_t volume[3];  ///< of the whole
    std::int64_t corner[3];  ///< the last corner
    std::int64_t half[3];    ///< of the window, and no more than can be met
    std::int64_t grid[3];    ///< references; along z and y those of this call
    std::int64_t first;      ///< number along z of this call's first
    std::int64_t first_line; ///< the same along y
    std::int64_t step;
    std::int64_t in_first;
    std::int64_t in_layers;
    int patch[3];
    int count;
    float most; ///< the largest D that is within the threshold
    float patch_voxels;
    MatchOrder order;

    constexpr std::int64_t rows() const { return grid[0] * grid[1] * grid[2]; }

    /// The corner of reference `i` along `axis`; along z and y numbered from this call's first.
    constexpr std::int64_t reference(int axis, std::int64_t i) const {
        const std::int64_t before = axis == 0 ? first : (axis == 1 ? first_line : 0);
        const std::int64_t at = (before + i) * step;
        return at < corner[axis] ? at : corner[axis];
    }

    constexpr std::int64_t window(int axis) const { return 2 * half[axis] + 1; }

    /// Candidates of a reference in the middle of the volume.
    constexpr std::int64_t candidates() const { return window(0) * window(1) * window(2); }

    /// The operations of a reference's matching, about what float32 operations one takes: sums of
    /// its own for each candidate, or sums that neighbours share.
    double operations(MatchSelection selection) const;

    /// The place of a corner in the whole volume.
    constexpr std::int64_t index(std::int64_t z, std::int64_t y, std::int64_t x) const {
        return (z * volume[1] + y) * volume[2] + x;
    }
};

MatchCall make_match_call(const Match& match, const MatchLayers& layers);

/// The largest float D with D / voxels ≤ threshold, in float32; for threshold ≥ 0.
float match_most(float threshold, float voxels);

/// Candidates are kept as keys that order as (D, corner): the bits of D above the number of the
/// candidate in its window, counted in the order z, y, x. As D ≥ 0, keys are positive.
inline constexpr std::int64_t no_match = std::numeric_limits<std::int64_t>::max();

inline std::int64_t match_key(float distance, std::uint32_t number) {
    return static_cast<std::int64_t>(std::uint64_t{std::bit_cast<std::uint32_t>(distance)} << 32U |
                                     number);
}

/// Writes a sorted list of `work.count` keys out as row `row`, of the reference with this corner.
void put_match_row(const MatchCall& call, const std::int64_t* list, std::int64_t row,
                   std::int64_t z, std::int64_t y, std::int64_t x, const MatchLists& lists);

/// The lists of match_patches() by one of the published selections. For the CPU in the calling
/// thread's arena, which is the queue's; all candidates of a reference are a thread's memory there
/// and a block's shared memory on a GPU.
void match_published(const CpuQueue& queue, MatchSelection selection, const MatchCall& call,
                     const float* volume, const MatchLists& lists);
void match_published(CudaQueue& queue, MatchSelection selection, const MatchCall& call,
                     const float* volume, const MatchLists& lists);

/// The lists of match_patches() with a sum for every candidate of every reference by itself: any
/// step, patch and window.
void match_sparse(CudaQueue& queue, const MatchCall& call, const float* volume,
                  const MatchLists& lists);

/// The lists of match_patches() where bounds by tensor cores serve: patches of 4³, a step of at
/// most 3, windows of at most 11 along each axis. False, and nothing done, for others and where the
/// device has too little shared memory.
bool match_tensor(CudaQueue& queue, const MatchCall& call, const float* volume,
                  const MatchLists& lists);

} // namespace runner
