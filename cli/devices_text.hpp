// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace runner {

/// `runner devices`: every visible GPU and which rank of this host would get which.
std::string devices_text();
std::string devices_json();

} // namespace runner
