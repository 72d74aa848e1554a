// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <optional>

namespace runner {

/// The mean structural similarity of two datasets of one shape as Comparison::ssim says, streamed.
std::optional<double> mean_ssim(RowReader& a, RowReader& b, double peak);

} // namespace runner
