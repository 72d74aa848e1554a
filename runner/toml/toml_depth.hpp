// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/table.hpp"

#include <optional>
#include <string_view>

namespace runner {

/// Where TOML text first nests brackets or dotted keys deeper than any job file needs (64 brackets,
/// 32 dots in one key); nothing where it does not. toml++ 3.3 recurses once a dot and overflows its
/// stack on a long key. Strings and comments are passed over; the text may be any bytes.
std::optional<SourcePlace> too_deep(std::string_view text);

} // namespace runner
