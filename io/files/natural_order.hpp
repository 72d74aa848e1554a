// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// Whether `a` comes before `b` where digits in a row count as one number: slice_2 before slice_10.
/// Names that differ only in leading zeros are ordered by their bytes.
bool natural_less(std::string_view a, std::string_view b);

/// Where names in natural order differ in one number alone and not by the same step each: the first
/// step that is larger than the smallest, "nothing between slice_3.tif and slice_5.tif". Else
/// empty.
std::string first_gap(const std::vector<std::string>& names);

} // namespace runner
