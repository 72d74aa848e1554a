// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/plan/box_grid.hpp"
#include "runner/plan/plan.hpp"

#include <cstdint>
#include <optional>
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
    /// A box passes through the device in pieces of at most so many indices of the output's first
    /// and second axis: whole, unless the rank's memory is too small for it. All ranks have the
    /// same boxes; each has pieces of its own.
    std::int64_t piece_first = 0;
    std::int64_t piece_second = 0;
    std::int64_t alignment = 1; ///< indices of the second axis that a piece begins on a multiple of
    MemoryNeed need;
    std::int64_t host_memory = 0; ///< the limits it was made for
    std::int64_t device_memory = 0;

    std::int64_t total_rows() const;
    /// The boxes of a rank that have rows to make, by index: as many as another's.
    std::vector<std::int64_t> boxes(int rank) const;
    /// Rows that these boxes make.
    std::int64_t rows_to_do(const std::vector<std::int64_t>& boxes) const;

    /// Pieces of a box; of one at the end of an axis, some are empty.
    std::int64_t pieces() const;
    PermuteBox piece(std::int64_t box, std::int64_t index) const;
    std::int64_t piece_bytes() const; ///< at most
    /// Rows that pass through the device at once.
    std::int64_t chunk_rows() const { return piece_first * piece_second; }
};

/// Makes the plan; pure. `chunk_rows` of the request: rows of the output a box. @throws Error
/// (usage) when not even one row of the output fits.
PermutePlan make_permute_plan(const PermuteJob& job, const PlanRequest& request);

/// As halved() of a stream's plan: pieces of half the extent, by turns along the output's first and
/// second axis, or fewer at once.
std::optional<PermutePlan> halved(const PermutePlan& plan);

} // namespace runner
