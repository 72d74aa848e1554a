// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace runner {

/// Seconds of a time as a person writes it: "90", "90s", "1.5h", "30 min", "1h30m", "2d", or as
/// Slurm does, "30:00", "1:30:00", "1-12:00:00". Nothing for any other text, for a negative one and
/// for more than 10 years.
std::optional<double> parse_duration(std::string_view text);

/// Until now.
inline double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// "2.5 s", "3 min 20 s", "1 h 5 min": for people.
std::string duration_text(double seconds);

} // namespace runner
