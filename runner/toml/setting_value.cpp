// SPDX-License-Identifier: BSD-3-Clause
#include "runner/toml/setting_value.hpp"

#include "jobs/toml_text.hpp"
#include "runner/toml/toml_values.hpp"

#include <algorithm>
#include <optional>
#include <variant>

namespace runner {
namespace {

/// Whether the text is one value of TOML, and what of: a line break could bring another key in.
bool is_value(std::string_view text) {
    Diagnostics ignored;
    const std::optional<TableEntries> parsed = parse_toml("value=" + std::string(text), 0, ignored);
    return parsed && parsed->size() == 1 && parsed->front().key == "value";
}

bool is_number(std::string_view text) {
    return text.find_first_not_of("+-.0123456789eE \t") == std::string_view::npos && is_value(text);
}

/// Whether the text is at least two numbers with commas between them.
bool is_list(std::string_view text) {
    if (text.find(',') == std::string_view::npos) {
        return false;
    }
    while (true) {
        const std::size_t comma = std::min(text.find(','), text.size());
        if (!is_number(text.substr(0, comma))) {
            return false;
        }
        if (comma == text.size()) {
            return true;
        }
        text.remove_prefix(comma + 1);
    }
}

bool is_plain(std::string_view text) {
    return !text.empty() && text.find_first_of("\"'[{") != 0 &&
           std::none_of(text.begin(), text.end(),
                        [](unsigned char c) { return c == '#' || c < ' ' || c == '\x7f'; });
}

} // namespace

std::string setting_value(std::string_view given) {
    constexpr std::string_view blanks = " \t";
    const std::size_t begin = std::min(given.find_first_not_of(blanks), given.size());
    const std::string_view text = given.substr(begin, given.find_last_not_of(blanks) + 1 - begin);
    if (is_value(text) || !is_plain(text)) {
        return std::string(given);
    }
    return is_list(text) ? "[" + std::string(text) + "]" : toml_text(text);
}

} // namespace runner
