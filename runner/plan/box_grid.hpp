// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/permute_job.hpp"
#include "runner/plan/row_set.hpp"

#include <cstdint>
#include <vector>

namespace runner {

/// A box that passes through the device at once: indices of each of the output's axes but the last,
/// and all of that, so that whole rows of the output are made.
using PermuteBox = std::vector<RowRange>;

/// How many rows of the output it makes.
std::int64_t rows_of(const PermuteBox& box);

/// How an array is cut into boxes: a value.
struct BoxGrid {
    PermuteShape shape;
    /// Extents of a box along the output's axes but the last; along the one before it a multiple of
    /// the rows a write must begin on, or all.
    Extents box_extents = {1, 1};

    Extents output() const { return shape.permuted(shape.input); }
    std::int64_t boxes() const;
    /// The index-th; those at the end of an axis may be smaller.
    PermuteBox box(std::int64_t index) const;
    /// Extents of a box along the input's axes, and where it begins on them.
    Extents in_extents(const PermuteBox& box) const;
    Extents in_start(const PermuteBox& box) const;
    /// Rows of the output that it makes, as runs.
    std::vector<RowRange> rows(const PermuteBox& box) const;

    std::int64_t rows_of_box() const; ///< at most
    std::int64_t most_bytes() const;  ///< of a box
    /// Bytes that a box has side by side in the input and in the output.
    std::int64_t in_run_bytes() const;
    std::int64_t out_run_bytes() const;
};

/// The grid of boxes of at most `most_bytes` whose shortest runs, in the input and the output, are
/// longest; a smaller box where that makes runs of 256 KiB already, and not so few boxes that
/// `parts` have nothing to do. `alignment`: rows. Where not even the smallest box is that small it
/// is returned.
BoxGrid make_box_grid(const PermuteShape& shape, std::int64_t alignment, std::int64_t most_bytes,
                      std::int64_t parts);

} // namespace runner
