// SPDX-License-Identifier: BSD-3-Clause
#include "runner/toml/toml_depth.hpp"

#include <algorithm>
#include <cstddef>

namespace runner {
namespace {

constexpr int most_brackets = 64;
constexpr int most_dots = 32;

/// The position after the string that begins at `at` with a quote; the end of the line where it is
/// not closed, for the parser to complain about.
std::size_t after_string(std::string_view text, std::size_t at) {
    const char quote = text[at];
    const std::string_view fence = quote == '"' ? R"(""")" : "'''";
    const bool several_lines = text.substr(at).starts_with(fence);
    std::size_t i = at + (several_lines ? 3 : 1);
    for (; i < text.size(); ++i) {
        if (quote == '"' && text[i] == '\\') {
            ++i;
        } else if (several_lines && text.substr(i).starts_with(fence)) {
            i += 3;
            // One or two more quotes belong to the string's end: """"a""""" is legal.
            for (int more = 0; more < 2 && i < text.size() && text[i] == quote; ++more) {
                ++i;
            }
            return i;
        } else if (!several_lines && text[i] == quote) {
            return i + 1;
        } else if (!several_lines && text[i] == '\n') {
            return i;
        }
    }
    return text.size();
}

SourcePlace place_at(std::string_view text, std::size_t at) {
    const std::string_view before = text.substr(0, at);
    const std::size_t line_start = before.rfind('\n') + 1; // npos + 1 is 0
    return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
            static_cast<int>(at - line_start) + 1};
}

} // namespace

std::optional<SourcePlace> too_deep(std::string_view text) {
    int brackets = 0;
    int dots = 0; // since the last character that ends a key
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        if (c == '"' || c == '\'') {
            i = after_string(text, i);
            continue;
        }
        if (c == '#') {
            i = std::min(text.find('\n', i), text.size());
            continue;
        }
        if (c == '[' || c == '{') {
            ++brackets;
        } else if (c == ']' || c == '}') {
            brackets = std::max(brackets - 1, 0);
        } else if (c == '.') {
            ++dots;
        }
        if (c == '=' || c == ',' || c == '\n' || c == '[' || c == ']' || c == '{' || c == '}') {
            dots = 0;
        }
        if (brackets > most_brackets || dots > most_dots) {
            return place_at(text, i);
        }
        ++i;
    }
    return std::nullopt;
}

} // namespace runner
