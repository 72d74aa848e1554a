// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/row_set.hpp"

#include <algorithm>
#include <utility>

namespace runner {

RowSet make_row_set(std::vector<RowRange> ranges) {
    std::erase_if(ranges, [](const RowRange& range) { return range.empty(); });
    std::sort(ranges.begin(), ranges.end(),
              [](const RowRange& a, const RowRange& b) { return a.first < b.first; });
    RowSet set;
    for (const RowRange& range : ranges) {
        if (!set.empty() && range.first <= set.back().last) {
            set.back().last = std::max(set.back().last, range.last);
        } else {
            set.push_back(range);
        }
    }
    return set;
}

RowSet intersect(const RowSet& a, const RowSet& b) {
    RowSet common;
    for (const RowRange& x : a) {
        for (const RowRange& y : b) {
            const RowRange both{std::max(x.first, y.first), std::min(x.last, y.last)};
            if (!both.empty()) {
                common.push_back(both);
            }
        }
    }
    return make_row_set(std::move(common));
}

RowSet subtract(const RowSet& a, const RowSet& b) {
    RowSet rest = a;
    for (const RowRange& cut : b) {
        RowSet next;
        for (const RowRange& range : rest) {
            next.push_back({range.first, std::min(range.last, cut.first)});
            next.push_back({std::max(range.first, cut.last), range.last});
        }
        rest = make_row_set(std::move(next));
    }
    return rest;
}

std::int64_t count_rows(const RowSet& set) {
    std::int64_t count = 0;
    for (const RowRange& range : set) {
        count += range.count();
    }
    return count;
}

} // namespace runner
