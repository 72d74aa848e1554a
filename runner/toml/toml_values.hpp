// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/table.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace runner {

/// Parses TOML text into values, every table's entries in the order they are written. Text of any
/// bytes is safe: nesting that would exhaust the parser's stack is refused before it starts.
/// `setting`: the number to put in every place, see SourcePlace.
/// On bad text reports one error, the parser's first, and returns nothing.
std::optional<TableEntries> parse_toml(std::string_view text, int setting,
                                       Diagnostics& diagnostics);

/// Lays one `table.key=value` over the values of a file: makes the tables on the way, replaces the
/// whole value at the end; the value may be as setting_value() takes it. In an array of tables the
/// next key picks a table by its `name`, or by its number from 1: `step.smooth.dtype`,
/// `step.2.dtype`. `setting`: its number, from 1. Reports a setting that is not of this form and
/// leaves the values alone.
void apply_setting(const std::string& text, int setting, TableEntries& values,
                   Diagnostics& diagnostics);

/// Where TOML text first nests brackets or dotted keys deeper than any job file needs (64 brackets,
/// 32 dots in one key); nothing where it does not. toml++ 3.3 recurses once a dot and overflows its
/// stack on a long key. Strings and comments are passed over; the text may be any bytes.
std::optional<SourcePlace> too_deep(std::string_view text);

/// The position after the string of TOML that begins at `at` with a quote; the end of the line
/// where it is not closed.
std::size_t after_string(std::string_view text, std::size_t at);

} // namespace runner
