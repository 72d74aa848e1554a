// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "jobs/survey.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

namespace runner {

/// The rank of a percentile among `count` ≥ 1 values, from 1: ⌈percent / 100 · count⌉, and 1 for 0.
/// Exact for `percent` as its shortest decimal text says it, in 0 … 100.
std::uint64_t percentile_rank(double percent, std::uint64_t count);

/// A survey that finds two values among all elements of the input that are neither NaN nor
/// `invalid` (kernels/elements/invalid.hpp): those of two percentiles, or without them the least
/// and the greatest. Elements are of a number's type. A row has `row_elements` of them.
std::unique_ptr<Survey> make_range_survey(ElementType type, std::int64_t row_elements,
                                          std::optional<std::array<double, 2>> percentiles,
                                          std::optional<double> invalid = std::nullopt);

/// What it found; nothing where the input has no such element.
std::optional<std::array<double, 2>> found_range(ElementType type, const Findings& findings);

} // namespace runner
