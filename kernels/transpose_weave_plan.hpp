// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/transpose_axes.hpp"

#include <cstdint>
#include <optional>

namespace runner {

/// A transposition with a short axis, the strands, that is the fastest on one side, the woven one,
/// and dense with the next axis there. A box holds all strands, a part of that next axis and a part
/// of the third. On the other side, the plain one, it is runs that pass through shared memory as
/// they are. Lengths and strides are bytes unless said otherwise.
struct WeavePlan {
    enum class Woven { out, in };

    Woven woven = Woven::out;
    int element_bytes = 1;
    int strands = 2;
    std::int64_t along = 1;  ///< elements of the axis after the strands on the woven side
    std::int64_t others = 1; ///< of the third axis
    int box_along = 1;       ///< of a box
    int box_others = 1;
    std::int64_t plain_along = 0; ///< strides of these axes on either side
    std::int64_t plain_other = 0;
    std::int64_t woven_other = 0;

    // Runs: `run_strands` times the box's part of the long axis, or once.
    int run_strands = 1;
    bool run_each_along = false;   ///< a run goes along the third axis, not along the next one
    std::int64_t plain_strand = 0; ///< from a strand's run to the next
    int run_unit = 1;              ///< of a run for one element of its axis
    int shared_run_strand = 0;     ///< in shared memory, from a strand's run to the next
    int shared_run_along = 0;

    // Where an element of a woven row is in shared memory.
    int shared_strand = 0;
    int shared_along = 0;
    int shared_row = 0;

    int lanes = 8; ///< threads side by side along a woven row
    int row = 0;   ///< of a woven row that is a part of the box's only one, or 0
    int shared_bytes = 0;
};

/// Nothing where the transposition is not of this kind.
std::optional<WeavePlan> plan_weave(const TransposeAxes& axes);

/// Whether boxes are filled well.
bool is_worth_weaving(const WeavePlan& plan);

} // namespace runner
