// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/rounding.hpp"
#include "kernels/transpose/transpose_axes.hpp"
#include "kernels/transpose/transpose_ways.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace runner {

class CudaQueue;

/// How large a tile is.
struct GatherSize {
    int lanes = 16;   ///< vectors of 16 bytes of an input row's part, wherever it begins
    int vectors = 16; ///< of an output row's part
    int threads = 256;

    bool operator==(const GatherSize&) const = default;
};

/// All that are compiled, for points and for single elements; the first needs the least shared
/// memory.
std::vector<GatherSize> gather_sizes(int element_bytes, bool points);

/// A transposition by aligned vectors of 16 bytes, wherever rows begin. A tile's rows come to
/// shared memory as they are, each as far beyond a multiple of 32 bytes as in the input. A thread
/// gathers the elements of an aligned vector of the output. Points are elements that stay together.
struct GatherPlan {
    int element_bytes = 1;
    int point = 1;                  ///< elements of a point
    TileFold fold = TileFold::none; ///< or along
    TransposeRows a;                ///< rows of the output, which an input row crosses
    TransposeRows b;                ///< rows of the input
    TransposeAxis c;                ///< the batch, with its strides in bytes
    GatherSize size;
    int across = 1;      ///< points of an input row in a tile
    int step = 1;        ///< elements of an output row from a tile to the next
    int skew = 0;        ///< mask of what is added to a row's place so that threads meet in no bank
    int spread = 0;      ///< log2 of the columns between threads that are side by side across
    bool turned = false; ///< whether these gather the words of a vector in different orders
    int shared_bytes = 0;
    int group = 16;  ///< tiles along the output's fastest axis before the next along the input's
    int cluster = 1; ///< tiles whose blocks of threads run beside one another

    constexpr int point_bytes() const { return point * element_bytes; }
    constexpr std::int64_t tiles_across() const { return ceil_divide(a.count, across); }
    constexpr std::int64_t tiles_along() const { return ceil_divide(b.count * point, step); }
};

/// Nothing where the transposition is not of this kind, or elements have more than 4 bytes.
std::optional<GatherPlan> plan_gather(const TransposeAxes& axes, TileFold fold,
                                      const GatherSize& size);

/// Gives the plan's tiles another size.
void size_tile(const GatherSize& size, GatherPlan& plan);

/// The plan where it is faster than the other kernels
/// (bench/results/transpose-2026-11-25-h200.txt).
std::optional<GatherPlan> choose_gather(const TransposeAxes& axes);

/// Lanes of the tiles that hold a whole row of 225 to 256 bytes.
constexpr int wide_gather_lanes = 18;

/// At whose multiples a tile's part of a row is read and written.
constexpr int gather_align = 32;

/// @param plan of `plan_gather`.
void transpose_gathered(CudaQueue& queue, const GatherPlan& plan, const std::byte* in,
                        std::byte* out);

} // namespace runner
