// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match.hpp"

namespace runner::window_cuda {

/// A block has a thread for rows_each() rows of each column of 32 × 32 voxels, of several layers.
/// It makes the means of those in the middle: sums over patches take the others away, a patch but
/// one on either side, where the volume goes on.
inline constexpr int lanes = 32;
inline constexpr int rows = 32;

/// Rows of a thread; py = 0: any. Four share more sums than two, and take more registers: large
/// patches are faster with two.
constexpr int rows_each(int pz, int py) { return py > 0 && (pz == 1 || pz == 3) ? 4 : 2; }
constexpr int threads_of(int pz, int py) { return lanes * rows / rows_each(pz, py); }

/// Layers of means of a block, which a thread keeps in registers.
constexpr int layers_of(int pz) { return pz == 1 ? 1 : (pz <= 3 ? 7 : 4); }
/// Rows that a block reads beside those that it writes: behind them, of squares, which no mean that
/// it writes depends on, and before them, of weights, which are 0.
constexpr int spare_rows(int py) { return py == 0 ? Match::max_patch - 1 : py - 1; }

/// Where a block reads the voxels of an offset: in the volume, or in a copy in shared memory of all
/// voxels that its window reaches.
enum class Source { volume, copy };

/// The largest half of a window whose voxels are copied.
constexpr int most_half(int pz, int axis) { return pz == 1 && axis > 0 ? 10 : 5; }
constexpr int copied_rows(int pz) { return rows + 2 * most_half(pz, 1); }
constexpr int copied_lanes(int pz) { return lanes + 2 * most_half(pz, 2); }

/// Floats of shared memory; py = 0: any.
constexpr int sum_floats(int pz, int py) {
    return (2 * layers_of(pz) + pz - 1) * (rows + spare_rows(py)) * lanes;
}
constexpr int copied_floats(int pz, int half_z) {
    return (layers_of(pz) + 2 * (pz - 1) + 2 * half_z) * copied_rows(pz) * copied_lanes(pz);
}

/// Where a block's first voxel lies: that of its first thread and of its first reference.
struct Corner {
    int z;
    int y;
    int x;
};

} // namespace runner::window_cuda
