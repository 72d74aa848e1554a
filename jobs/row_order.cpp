// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/row_order.hpp"

#include <utility>

namespace runner {

DatasetInfo in_order(DatasetInfo info, const RowOrder& order) {
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
