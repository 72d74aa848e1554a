// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match_call.hpp"
#include "kernels/queue/divisor.hpp"

#include <cstdint>

namespace runner {

/// Shared memory of a GPU, bytes.
struct SparseRoom {
    std::int64_t block;     ///< the most that a block can have
    std::int64_t processor; ///< what the blocks of a multiprocessor share
};

/// How the sums of match_sparse.cuh are laid out: which references a block has, which part of their
/// windows it searches at once, and what it keeps of them in shared memory. Extents are z, y, x.
///
/// A thread has candidates side by side along one axis, `along`: z, or y where patches and windows
/// are flat along z. The axis of z and y that is left is the `other`.
struct SparsePlan {
    static constexpr int most_warps = 8;
    /// Distances are examined in this many at once.
    static constexpr int round = 128;
    /// Keys that a warp gathers.
    static constexpr int gathered = 64;

    int along = 0;               ///< 0 or 1
    int each = 0;                ///< candidates of a thread: 5 or 11
    int references[3] = {};      ///< of a block
    int warps = 0;               ///< of a block
    int warp_references = 0;     ///< of a warp
    std::int64_t blocks[3] = {}; ///< of the call
    int part[3] = {};        ///< candidates examined at once; along `along` a multiple of `each`
    int columns = 0;         ///< of candidates: those of a part along the other two axes
    int items = 0;           ///< a thread's work: columns, cut to `each`, of a warp's references
    bool whole = true;       ///< a part is all of the window
    int tile[3] = {};        ///< voxels of a part
    int pitch_x = 0;         ///< floats from one voxel of the tile to the next along x; along
                             ///< `along` they are neighbours
    int pitch_line = 0;      ///< and along the other axis
    int own = 0;             ///< floats of a reference's patch
    int distances = 0;       ///< floats of a reference's distances, a multiple of `round`
    int own_floats = 0;      ///< of all patches, a multiple of 4
    int gathered_floats = 0; ///< of the keys of all warps
    int distance_floats = 0; ///< of all distances
    std::int64_t bytes = 0;  ///< of shared memory: patches, keys, distances, tile
    Divisor by_blocks_x;
    Divisor by_blocks_y;
    Divisor by_references_x;
    Divisor by_references_y;
    Divisor by_tile_x;
    Divisor by_tile_other;
    Divisor by_part_x;
    Divisor by_columns;
    Divisor by_items; ///< of one reference

    int threads() const { return 32 * warps; }
};

/// Floats from one line of a reference's patch to the next, so that a line of `patch` voxels is
/// read as vectors.
constexpr int sparse_own_pitch(int patch) { return patch <= 2 ? patch : (patch <= 4 ? 4 : 8); }

/// Whether there is a kernel for columns of `each` candidates.
constexpr bool sparse_has(int along, int patch, int each) {
    return each == 11 || (each == 5 && along == 0 && patch <= 4);
}

/// The plan that takes the fewest instructions by an estimate. There is one for every call where a
/// block can have 32 KiB.
SparsePlan make_sparse_plan(const MatchCall& call, const SparseRoom& room);

} // namespace runner
