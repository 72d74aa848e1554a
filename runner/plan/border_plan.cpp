// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/border_plan.hpp"

#include <algorithm>

namespace runner {
namespace {

/// A slab's share of one frame, as rows within the frame.
struct FrameShare {
    std::int64_t frame = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;
};

/// The slab's first and last frame; those between are whole and need no other slab.
std::vector<FrameShare> outer_shares(const Decomposition& d, RowRange slab) {
    if (slab.empty()) {
        return {};
    }
    const std::int64_t first_frame = slab.first / d.rows;
    const std::int64_t last_frame = (slab.last - 1) / d.rows;
    std::vector<FrameShare> shares;
    for (const std::int64_t frame : {first_frame, last_frame}) {
        const std::int64_t start = frame * d.rows;
        shares.push_back({frame, std::max(slab.first - start, std::int64_t{0}),
                          std::min(slab.last - start, d.rows)});
    }
    return shares;
}

/// Rows that the slab's chunks read and that belong to other slabs.
RowSet foreign_rows(const Decomposition& d, int rank) {
    const RowRange slab = d.slab(rank);
    std::vector<RowRange> needed;
    for (const FrameShare& share : outer_shares(d, slab)) {
        const RowRange window = d.window(share.first, share.last);
        for (const RowSource& run : row_sources(d, share.frame, window)) {
            needed.push_back({run.source, run.source + run.count});
        }
    }
    return subtract(make_row_set(std::move(needed)), {slab});
}

} // namespace

std::int64_t BorderPlan::held_rows() const {
    std::int64_t rows = count_rows(own);
    for (const Transfer& transfer : receives) {
        rows += count_rows(transfer.rows);
    }
    return rows;
}

BorderPlan make_border_plan(const Decomposition& decomposition, int rank) {
    const Decomposition& d = decomposition;
    BorderPlan plan;
    if (d.halo == 0 || d.ranks == 1) {
        return plan;
    }
    const RowSet slab = make_row_set({d.slab(rank)});
    const RowSet mine = foreign_rows(d, rank);
    std::vector<RowRange> sent;
    for (int other = 0; other < d.ranks; ++other) {
        if (other == rank) {
            continue;
        }
        RowSet to_send = intersect(slab, foreign_rows(d, other));
        if (!to_send.empty()) {
            sent.insert(sent.end(), to_send.begin(), to_send.end());
            plan.sends.push_back({other, std::move(to_send)});
        }
        RowSet to_receive = intersect(mine, make_row_set({d.slab(other)}));
        if (!to_receive.empty()) {
            plan.receives.push_back({other, std::move(to_receive)});
        }
    }
    plan.own = make_row_set(std::move(sent));
    return plan;
}

RowSet early_rows(const Decomposition& decomposition, std::int64_t frame, std::int64_t first,
                  std::int64_t last) {
    const Decomposition& d = decomposition;
    if (d.border != RowBorder::periodic || d.halo == 0 || d.halo >= d.rows) {
        return {};
    }
    std::vector<RowRange> outside;
    for (const RowRange range : {RowRange{first - d.halo, first}, RowRange{last, last + d.halo}}) {
        for (const RowSource& run : row_sources(d, frame, range)) {
            outside.push_back({run.source, run.source + run.count});
        }
    }
    const RowRange own{frame * d.rows + first, frame * d.rows + last};
    return intersect(make_row_set(std::move(outside)), {own});
}

} // namespace runner
