// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/plan/box_grid.hpp"
#include "runner/plan/job_plan.hpp"

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// The plan of a job that puts elements at other places.
struct PermutePlan : JobPlan {
    PermuteShape shape;
    BoxGrid grid;
    int ranks = 1;
    RowSet done; ///< rows of the output that need not be made
    /// A box passes through the device in pieces of at most so many indices of the output's axes
    /// but the last: whole, unless the rank's memory is too small for it. All ranks have the same
    /// boxes; each has pieces of its own.
    Extents piece_extents;
    std::int64_t alignment = 1; ///< a piece begins on multiples of it, along the last of those axes

    std::int64_t total_rows() const;
    /// The boxes of a rank that have rows to make, by index: as many as another's.
    std::vector<std::int64_t> boxes(int rank) const;
    /// Rows that these boxes make.
    std::int64_t rows_to_do(const std::vector<std::int64_t>& boxes) const;

    /// Pieces of a box; of one at the end of an axis, some are empty.
    std::int64_t pieces() const;
    PermuteBox piece(std::int64_t box, std::int64_t index) const;
    std::int64_t piece_bytes() const; ///< at most
    std::int64_t row_bytes() const {
        return grid.output().back() * shape.element_bytes;
    } ///< of the output

    int rank_count() const override { return ranks; }
    RowRange rows_of_rank(int rank) const override;
    std::int64_t pieces_of_rank(int rank) const override { return std::ssize(boxes(rank)); }
    std::string_view piece_name() const override { return "boxes"; }
    std::int64_t chunk_rows() const override;
    const ArrayInfo& output() const override { return shape.output; }
    std::int64_t bytes_to_read() const override { return bytes_to_write(); }
    std::int64_t bytes_to_write() const override;
    std::string text() const override;
    std::vector<PlanFact> facts() const override;
    std::vector<PlanFact> io_facts() const override;

  private:
    std::vector<std::int64_t>
    box_shape() const; ///< extents of a box along all of the output's axes
};

/// Makes the plan; pure. `chunk_rows` of the request: rows of the output a box. @throws Error
/// (usage) when not even one row of the output fits.
PermutePlan make_permute_plan(const PermuteJob& job, const PlanRequest& request);

/// As halved() of a stream's plan: pieces of half the extent, along that of the output's axes of
/// which they have most, or fewer at once.
std::optional<PermutePlan> halved(const PermutePlan& plan);

} // namespace runner
