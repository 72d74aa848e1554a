// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace runner {

/// A number as TOML writes it: the shortest text that reads back to the same double, always a float
/// to TOML ("2.0", "1e+20", "inf", "nan").
std::string toml_text(double value);

/// A basic string with its quotes, special characters escaped. Bytes that are not UTF-8 pass as
/// they are.
std::string toml_text(std::string_view value);

/// As above for messages: a long text is cut after 60 bytes or so, "like this…".
std::string quoted_text(std::string_view value);

/// "[0.25, 0.5]" and "[256, 32768]".
std::string toml_text(std::span<const double> values);
std::string toml_text(std::span<const std::int64_t> values);

} // namespace runner
