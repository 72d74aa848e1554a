// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "base/extremes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace runner {

/// The extremes of `count` elements of an array, a number's type or float16, that lie dense and
/// aligned. Those equal to `invalid` are no values, nor are infinities and NaN.
std::optional<ValueRange> extremes_of(const ArrayInfo& array, const std::byte* elements,
                                      std::int64_t count, std::optional<double> invalid);

} // namespace runner
