// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/halo_plan.hpp"

#include <algorithm>

namespace runner {
namespace {

RowRange held_rows(const Decomposition& d, const RowRange& slab) {
    return slab.empty() ? RowRange{} : d.window(slab.first, slab.last);
}

RowRange common(const RowRange& a, const RowRange& b) {
    const RowRange rows{std::max(a.first, b.first), std::min(a.last, b.last)};
    return rows.empty() ? RowRange{} : rows;
}

std::int64_t count(const std::vector<HaloRows>& trades) {
    std::int64_t rows = 0;
    for (const HaloRows& trade : trades) {
        rows += trade.rows.count();
    }
    return rows;
}

} // namespace

std::int64_t HaloPlan::sent_rows() const { return count(sends); }

std::int64_t HaloPlan::received_rows() const { return count(receives); }

HaloPlan make_halo_plan(const Decomposition& d, int rank) {
    HaloPlan plan;
    plan.slab = d.slab(rank);
    plan.held = held_rows(d, plan.slab);
    for (int other = 0; other < d.ranks; ++other) {
        if (other == rank) {
            continue;
        }
        const RowRange slab = d.slab(other);
        if (const RowRange rows = common(plan.slab, held_rows(d, slab)); !rows.empty()) {
            plan.sends.push_back({other, rows});
        }
        if (const RowRange rows = common(plan.held, slab); !rows.empty()) {
            plan.receives.push_back({other, rows});
        }
    }
    return plan;
}

} // namespace runner
