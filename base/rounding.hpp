// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace runner {

/// a / b rounded up, for a ≥ 0 and b > 0.
constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The least multiple of `step` that is at least `value`, for value ≥ 0 and step > 0.
constexpr std::int64_t round_up(std::int64_t value, std::int64_t step) {
    return ceil_divide(value, step) * step;
}

} // namespace runner
