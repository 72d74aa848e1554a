// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/row_order.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/reduce/reduce.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace runner {

/// What a place becomes.
struct PlaceResults {
    std::int64_t count = 1; ///< elements
    bool is_axis = false;   ///< they are a last axis of the output; else the count is 1
};

/// How rows of an array become groups that are reduced.
struct ReduceShape {
    std::vector<std::int64_t> output; ///< the kept axes and that of the results; [1] without any
    std::array<GroupAxis, 3> reduced = {}; ///< of a group, slowest first
    std::array<GroupAxis, 3> kept = {};
    /// The order in which rows are read: where the first axes are reduced and rows behind them
    /// kept, those of one result come one after the other.
    std::optional<RowOrder> order = {};
    std::int64_t group_rows = 1; ///< in that order
    std::int64_t frames = 1;     ///< each makes whole frames of the output
    std::int64_t rows = 1;       ///< of a frame
    OutputRows made = {};
};

/// `is_reduced`: of each axis of the shape, all of whose extents are ≥ 1. Nothing where the reduced
/// axes lie apart in more than three places, or the kept ones.
std::optional<ReduceShape> reduce_shape(const std::vector<std::int64_t>& shape,
                                        const std::vector<bool>& is_reduced,
                                        const PlaceResults& results);

} // namespace runner
