// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/transpose/transpose_axes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace runner {

class CudaQueue;

/// A transposition that takes apart points of a few components that are the input's fastest axis,
/// followed by the axis along which the output is written:
///
///     a0 b0 c0 a1 b1 c1 a2 b2 c2 a3 b3 c3 …     --->     a0 a1 a2 a3 …
///                                                        b0 b1 b2 b3 …
///                                                        c0 c1 c2 c3 …
///
/// A tile is a run of the input, which comes to shared memory as it is. A thread gathers an aligned
/// vector of 16 bytes of a component. Strides are in bytes.
struct SplitPlan {
    int element_bytes = 1;
    int components = 2;
    std::int64_t along = 1;  ///< points of a run
    std::int64_t others = 1; ///< runs
    std::int64_t in_other = 0;
    std::int64_t out_other = 0;
    std::int64_t out_component = 0;
    int step = 512;      ///< points from a tile to the next
    bool skewed = false; ///< whether every 128 bytes have 16 more after them in shared memory
    int bank_turns = 1;  ///< of shared memory that a warp takes to gather a vector
    int shared_bytes = 0;

    constexpr int point_bytes() const { return components * element_bytes; }
};

/// Nothing where the transposition is not of this kind, or elements have more than 4 bytes.
std::optional<SplitPlan> plan_split(const TransposeAxes& axes);

/// The plan where it is faster than the other kernels
/// (bench/results/transpose-2026-11-25-h200.txt).
std::optional<SplitPlan> choose_split(const TransposeAxes& axes);

/// At whose multiples a tile's part of an output row begins.
constexpr int split_align = 32;

/// @param plan of `plan_split`.
void transpose_split(CudaQueue& queue, const SplitPlan& plan, const std::byte* in, std::byte* out);

} // namespace runner
