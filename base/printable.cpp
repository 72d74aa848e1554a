// SPDX-License-Identifier: BSD-3-Clause
#include "base/printable.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace runner {
namespace {

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

} // namespace runner
