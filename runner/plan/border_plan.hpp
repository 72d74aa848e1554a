// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/plan/decomposition.hpp"

#include <cstdint>
#include <vector>

namespace runner {

/// Rows that go between this rank and another.
struct Transfer {
    int rank = 0;
    RowSet rows;
};

/// The input rows a rank must hold beside its stream of chunks, so that each row is read from
/// storage once in the whole job: rows of other slabs that its chunks need, which their owners send
/// (from however many slabs away), and its own rows that others need, read before the stream.
struct BorderPlan {
    RowSet own;                     ///< rows of this slab to read first, and to send
    std::vector<Transfer> sends;    ///< subsets of `own`, one entry per rank
    std::vector<Transfer> receives; ///< rows of other slabs, one entry per rank

    /// Rows held: own and received.
    std::int64_t held_rows() const;
};

BorderPlan make_border_plan(const Decomposition& decomposition, int rank);

/// Rows of the share [first, last) of frame `frame` (rows within the frame, all in one slab) that a
/// periodic border needs out of their order: kept from the frame's start until its end.
RowSet early_rows(const Decomposition& decomposition, std::int64_t frame, std::int64_t first,
                  std::int64_t last);

} // namespace runner
