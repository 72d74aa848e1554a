// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace runner {

/// Whether two names lead to one file, through any links; a file that is not there yet is
/// identified by its path.
bool is_same_file(const std::string& a, const std::string& b);

} // namespace runner
