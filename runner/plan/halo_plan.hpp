// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/plan/decomposition.hpp"

#include <cstdint>
#include <vector>

namespace runner {

/// Rows of a state that one rank has from another.
struct HaloRows {
    int rank = 0; ///< the other one
    RowRange rows;

    bool operator==(const HaloRows&) const = default;
};

/// What a rank trades with others each time its halo is used up: it holds the rows of its slab and
/// `halo` rows more on either side, which belong to the slabs next to it, or farther ones where
/// those are small.
struct HaloPlan {
    RowRange slab;
    RowRange held;                  ///< slab and halo; both empty for a rank without rows
    std::vector<HaloRows> sends;    ///< of the own slab, by rank
    std::vector<HaloRows> receives; ///< of other slabs, by rank

    std::int64_t sent_rows() const;
    std::int64_t received_rows() const;
};

/// `d`: of one frame, its halo not periodic.
HaloPlan make_halo_plan(const Decomposition& d, int rank);

} // namespace runner
