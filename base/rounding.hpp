// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace runner {

/// a / b rounded up, for a ≥ 0 and b > 0.
constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The least multiple of `step` that is at least `value`, for value ≥ 0 and step > 0.
constexpr std::int64_t round_up(std::int64_t value, std::int64_t step) {
    return ceil_divide(value, step) * step;
}

/// Bytes to which the parts of a block of memory are aligned, as cudaMalloc() aligns the block.
inline constexpr std::int64_t memory_alignment = 256;

/// The bytes that a part of `bytes` takes in such a block.
constexpr std::int64_t aligned_bytes(std::int64_t bytes) {
    return round_up(bytes, memory_alignment);
}

/// The number in float64, if that tells it from its neighbours, or if it is the greatest.
constexpr std::optional<double> exact_float64(std::int64_t value) {
    constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
    const auto number = static_cast<double>(value);
    const bool is_exact =
        number < static_cast<double>(greatest) && static_cast<std::int64_t>(number) == value;
    return is_exact || value == greatest ? std::optional(number) : std::nullopt;
}

} // namespace runner
