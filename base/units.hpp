// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string_view>

namespace runner {

/// Metres in a unit of length, of any usual name: "mm", "micrometer", "angstrom".
std::optional<double> metres_in(std::string_view unit);

/// Seconds in a unit of time, of any usual name: "s", "msec", "minute".
std::optional<double> seconds_in(std::string_view unit);

} // namespace runner
