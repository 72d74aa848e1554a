// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <cstdint>
#include <utility>

namespace runner {

/// An order of whole rows: that of an array whose first two axes have changed places. Row (i, j) of
/// the array [first, second, …] is the row (j, i) in this order. With `first` 1 they stay.
struct RowOrder {
    std::int64_t first = 1;  ///< extent of the array's first axis
    std::int64_t second = 1; ///< of its second; 1 × the number of rows where they stay

    bool operator==(const RowOrder&) const = default;
};

/// What is said of the array in this order: its first two axes have changed places.
inline DatasetInfo in_order(DatasetInfo info, const RowOrder& order) {
    if (order.first > 1) {
        std::swap(info.array.shape.at(0), info.array.shape.at(1));
        if (info.axes.each.size() == info.array.shape.size()) {
            std::swap(info.axes.each[0], info.axes.each[1]);
        }
    }
    info.offset.reset();
    return info;
}

} // namespace runner
