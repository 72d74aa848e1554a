// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/rescale/rescale.hpp"

#include <cstdint>

namespace runner {

/// Replaces `count` values x by their y, not yet converted; with the widest vectors there are.
void rescale_values(const Rescale& rescale, std::int64_t count, double* values);

} // namespace runner
