// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/batch/batch_plan.hpp"

#include <cstddef>
#include <vector>

namespace runner::batch {

/// In which order the datasets of a plan that are to be run are, by their places in it.
struct Order {
    std::vector<std::size_t> together;     ///< first, each on all ranks
    std::vector<std::size_t> side_by_side; ///< then these, each on one rank
};

/// The large ones first, so that no rank begins one when the others are through: together those of
/// more than an eighth of a rank's fair share (and 16 MiB), and those that fit only on all ranks.
/// One that ended badly before comes at the end, on one rank: on all it could end the whole batch.
/// On a single rank in the plan's order.
Order batch_order(const Plan& plan, int ranks);

} // namespace runner::batch
