// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/plan/box_grid.hpp"
#include "runner/plan/plan.hpp"

#include <cstdint>
#include <vector>

namespace runner {

/// Every decision of a job that puts elements at other places: a value, the same on every rank.
struct PermutePlan {
    Backend backend = Backend::cpu;
    PermuteShape shape;
    BoxGrid grid;
    int ranks = 1;
    int lanes = 1; ///< boxes in flight
    int io_threads = 1;
    RowSet done; ///< rows of the output that need not be made
    MemoryNeed need;
    std::int64_t host_memory = 0; ///< the limits it was made for
    std::int64_t device_memory = 0;

    std::int64_t total_rows() const;
    /// The boxes of a rank that have rows to make, by index: as many as another's.
    std::vector<std::int64_t> boxes(int rank) const;
    /// Rows that these make.
    std::int64_t rows_to_do(const std::vector<std::int64_t>& boxes) const;
};

/// Makes the plan; pure. `chunk_rows` of the request: rows of the output a box. @throws Error
/// (usage) when not even one row of the output fits.
PermutePlan make_permute_plan(const PermuteJob& job, const PlanRequest& request);

} // namespace runner
