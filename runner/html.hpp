// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runner {

/// The text with what HTML would take for markup escaped; fit for elements and quoted attributes.
std::string html_text(std::string_view text);

/// JSON as it may stand within a script element: nothing in it ends the element.
std::string script_json(std::string json);

std::string base64_text(std::span<const std::byte> bytes);

/// A number with so many digits after the point, without zeros at its end.
std::string decimal_text(double value, int digits);

/// Three digits and a unit: "3.21 GB/s", "1.5 s", "820 ms".
std::string rate_text(double bytes_per_second);
std::string short_time_text(double seconds);

/// A table that scrolls sideways where it has no room. Cells are HTML; the first row is the head.
std::string html_table(const std::vector<std::vector<std::string>>& rows);

/// Names and what they are, which may be long. Both are HTML.
std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts);

/// A page of its own: no file and no host is asked for anything, and a browser that would is not
/// let. `body` is HTML.
std::string html_page(const std::string& title, const std::string& body);

} // namespace runner
