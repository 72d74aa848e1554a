// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>

namespace runner {
namespace {

/// Edits that make `a` of `b`: a character put in, taken out, changed, or swapped with the next.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                cost[i][j] = i + j;
                continue;
            }
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
            cost[i][j] =
                std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
            }
        }
    }
    return cost[a.size()][b.size()];
}

std::string lower(std::string_view word) {
    std::string result(word);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

constexpr std::string_view digits = "0123456789abcdef";

/// A character and how many bytes it has; of what is no UTF-8 one byte.
struct Character {
    std::uint32_t code = 0;
    std::size_t bytes = 1;
    bool is_valid = false;
};

/// The character that begins at `at`. Overlong forms, surrogates and what is beyond U+10FFFF are
/// not valid (Unicode 15, table 3-7).
Character character_at(std::string_view text, std::size_t at) {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first < 0x80) {
        return {first, 1, true};
    }
    const std::size_t bytes = first >= 0xf0 ? 4 : (first >= 0xe0 ? 3 : 2);
    constexpr std::array<std::uint32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
    if (first < 0xc2 || first > 0xf4 || bytes > text.size() - at) {
        return {};
    }
    std::uint32_t code = first & (0x7fU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        const auto next = static_cast<unsigned char>(text[at + i]);
        if ((next & 0xc0U) != 0x80) {
            return {};
        }
        code = code << 6U | (next & 0x3fU);
    }
    if (code < least.at(bytes) || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
        return {};
    }
    return {code, bytes, true};
}

/// Whether a terminal would do something other than show it.
bool is_obeyed(std::uint32_t code) {
    const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    const bool line_break = code == 0x2028 || code == 0x2029;
    const bool direction = code == 0x61c || code == 0x200e || code == 0x200f ||
                           (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return control || line_break || direction;
}

/// The text with its bad characters as `escaped` makes them of their bytes and code.
template <class Escaped>
std::string escape(std::string_view text, bool keep_lines, const Escaped& escaped) {
    std::string safe;
    for (std::size_t at = 0; at < text.size();) {
        const Character character = character_at(text, at);
        const std::string_view bytes = text.substr(at, character.bytes);
        const bool good = character.is_valid &&
                          (!is_obeyed(character.code) || (keep_lines && character.code == '\n'));
        safe += good ? std::string(bytes) : escaped(bytes, character.code);
        at += character.bytes;
    }
    return safe;
}

std::string hex_bytes(std::string_view bytes, std::uint32_t /*code*/) {
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
    }
    return text;
}

} // namespace

std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& names) {
    // A name is compared up to a length no key has, so that a hostile one costs nothing.
    constexpr std::size_t longest = 256;
    if (word.size() > longest) {
        return std::nullopt;
    }
    std::optional<std::string> nearest;
    std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& name : names) {
        // From a word this short hardly anything is left to tell what was meant: gpu is not cpu.
        const bool differs = word.size() <= 3 && !word.empty() && !name.empty() &&
                             std::tolower(word.front()) != std::tolower(name.front());
        if (name.size() > longest || differs) {
            continue;
        }
        const std::size_t distance = edit_distance(lower(word), lower(name));
        if (distance < least && distance < word.size()) {
            least = distance;
            nearest = name;
        }
    }
    return nearest;
}

std::string printable(std::string_view text) { return escape(text, false, hex_bytes); }

std::string printable_lines(std::string_view text) { return escape(text, true, hex_bytes); }

std::string printable_json(std::string_view text) {
    return escape(text, true, [](std::string_view /*bytes*/, std::uint32_t code) {
        std::string four = "\\u";
        for (unsigned shift = 16; shift > 0; shift -= 4) {
            four += digits[code >> (shift - 4) & 15U];
        }
        return four;
    });
}

std::string shell_word(const std::string& text) {
    // Some shells take '^' for a pipe or a pattern, and a word that begins with '=' for a command.
    const bool plain =
        !text.empty() && text.front() != '=' && std::all_of(text.begin(), text.end(), [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                   std::string_view("_-+=./:,@%").find(c) != std::string_view::npos;
        });
    if (plain) {
        return text;
    }
    std::string quoted = "'";
    for (const char c : text) {
        quoted += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return quoted + "'";
}

bool is_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const Character character = character_at(text, at);
        if (!character.is_valid) {
            return false;
        }
        at += character.bytes;
    }
    return true;
}

} // namespace runner
