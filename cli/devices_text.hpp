// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace runner::cli {

/// `runner devices --measure`: measures every visible GPU and keeps the rates (kept_rates.hpp).
/// @throws Error (gpu) where there is none.
void measure_devices();

/// `runner devices`: every visible GPU and which rank of this host would get which.
std::string devices_text();
std::string devices_json();

} // namespace runner::cli
