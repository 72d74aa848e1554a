// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace runner {

/// A number with at most `digits` decimals, without trailing zeros: "1.5".
std::string decimal_text(double value, int digits);

/// Three digits and a unit: "3.21 GB/s".
std::string rate_text(double bytes_per_second);

/// "1.5 s", "820 ms", "1:06:40 h".
std::string short_time_text(double seconds);

} // namespace runner
