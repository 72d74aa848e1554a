// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/row_order.hpp"
#include "io/rows/rows.hpp"

#include <memory>

namespace runner {

/// Reads rows in this order. What lies side by side in the array is read in one piece. `rows` has
/// order.first × order.second of them. Takes ordered_rows_bytes, or a row where that is more.
/// `kept_lines`: so many places along the array's second axis are read at once and kept, with all
/// their rows, from a multiple of it on; 0: none. `threads` ≥ 1 take rows from these.
std::unique_ptr<RowReader> open_ordered_rows(std::unique_ptr<RowReader> rows, const RowOrder& order,
                                             std::int64_t kept_lines = 0, int threads = 1);

} // namespace runner
