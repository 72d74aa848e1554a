// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// The one of `names` most like `word`, if any is near enough to be meant.
std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& names);

} // namespace runner
