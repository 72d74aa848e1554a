// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace runner {

/// sums[o · channels + c] += values[(o · factor + i) · channels + c] for i from 0 to factor − 1 in
/// this order, for `count` pixels o and every channel; with the widest vectors there are.
void add_columns(const double* values, std::int64_t count, std::int64_t factor,
                 std::int64_t channels, double* sums);

} // namespace runner
