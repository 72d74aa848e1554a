// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

namespace runner {

/// Half-open range of rows, counted through all frames (row r of frame f is f · rows + r).
struct RowRange {
    std::int64_t first = 0;
    std::int64_t last = 0;

    std::int64_t count() const { return last - first; }
    bool empty() const { return last <= first; }
    bool operator==(const RowRange&) const = default;
    static auto members(auto& self) { return std::tie(self.first, self.last); }
};

/// Sorted, disjoint, non-touching ranges of rows.
using RowSet = std::vector<RowRange>;

/// The set of all rows of `ranges`, in any order and overlapping.
RowSet make_row_set(std::vector<RowRange> ranges);
RowSet intersect(const RowSet& a, const RowSet& b);
/// Rows of `a` that are not in `b`.
RowSet subtract(const RowSet& a, const RowSet& b);
std::int64_t count_rows(const RowSet& set);

} // namespace runner
