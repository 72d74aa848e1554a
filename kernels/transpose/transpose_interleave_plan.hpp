// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/transpose/transpose_axes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace runner {

class CudaQueue;

/// A transposition that interleaves components, or takes them apart. One side is planar: each
/// component is a plane of its own. On the other, interleaved side the components are the fastest
/// axis, followed by the axis `along`. `others` is the third axis. For three components a, b, c:
///
///     planar                      interleaved
///     a0 a1 a2 a3 …
///     b0 b1 b2 b3 …     <--->     a0 b0 c0 a1 b1 c1 a2 b2 c2 a3 b3 c3 …
///     c0 c1 c2 c3 …
///
/// A box holds all components, a part of `along` and a part of `others`. Its planar side consists
/// of runs, which pass through shared memory unchanged. Lengths and strides are in bytes unless
/// said otherwise.
struct InterleavePlan {
    enum class Side { out, in };

    Side interleaved = Side::out; ///< which side the components are fastest on
    int element_bytes = 1;
    int components = 2;
    std::int64_t along = 1;  ///< elements of the axis after the components on the interleaved side
    std::int64_t others = 1; ///< of the third axis
    int box_along = 1;       ///< of a box
    int box_others = 1;
    std::int64_t planar_along = 0; ///< strides of these axes on either side
    std::int64_t planar_other = 0;
    std::int64_t interleaved_other = 0;

    // Runs: `run_components` times the box's part of the long axis, or once.
    int run_components = 1;
    bool run_each_along = false;       ///< a run goes along the third axis, not along the next one
    std::int64_t planar_component = 0; ///< from a component's run to the next
    int run_unit = 1;                  ///< of a run for one element of its axis
    int shared_run_component = 0;      ///< in shared memory, from a component's run to the next
    int shared_run_along = 0;

    // Where an element of an interleaved row is in shared memory.
    int shared_component = 0;
    int shared_along = 0;
    int shared_row = 0;

    int lanes = 8; ///< threads side by side along an interleaved row
    int row = 0;   ///< of an interleaved row that is a part of the box's only one, or 0
    int shared_bytes = 0;
};

/// Bytes of the largest elements whose runs are read by asynchronous copies. Those of larger ones
/// come through registers, a few vectors a thread at a time, which is faster for these (0.95 of a
/// copy to 0.92).
constexpr int most_async_element = 2;

/// Nothing where the transposition is not of this kind.
std::optional<InterleavePlan> plan_interleave(const TransposeAxes& axes);

/// Whether boxes are filled well.
bool is_worth_interleaving(const InterleavePlan& plan);

/// Interleaves components, or takes them apart, as the plan says.
void transpose_interleaved(CudaQueue& queue, const InterleavePlan& plan, const std::byte* in,
                           std::byte* out);

} // namespace runner
