// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace runner {

/// Writes a whole file as replace_file() does (io/files/own_file.hpp). @throws Error (output).
void write_text_file(const std::string& path, const std::string& text);

/// Reads a whole file of at most `most_bytes`. @throws Error (input).
std::string read_text_file(const std::string& path, std::int64_t most_bytes);

/// "2026-11-21T03:24:00Z".
std::string utc_text(long long seconds_since_1970);

/// "2026-11-21T03:24:00.000000005Z".
std::string precise_utc_text(std::int64_t nanoseconds_since_1970);

} // namespace runner
