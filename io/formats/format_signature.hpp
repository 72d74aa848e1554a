// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace runner {

/// The usual ending of the format that a regular file begins like, as ".tif"; "" for none, and for
/// what is no regular file or cannot be read.
std::string_view ending_by_content(const std::string& file);

} // namespace runner
