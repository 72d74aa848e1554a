// SPDX-License-Identifier: BSD-3-Clause
#include "base/printable.hpp"

namespace runner {
namespace {

bool is_control(std::string_view text, std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 || byte == 0x7f) {
        return true;
    }
    // U+0080 to U+009F, of two bytes in UTF-8, of which the second alone is one in older terminals.
    const bool after_c2 = at > 0 && static_cast<unsigned char>(text[at - 1]) == 0xc2;
    return after_c2 && byte >= 0x80 && byte < 0xa0;
}

} // namespace

std::string printable(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string safe;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_control(text, i)) {
            const auto byte = static_cast<unsigned char>(text[i]);
            safe += {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
        } else {
            safe += text[i];
        }
    }
    return safe;
}

} // namespace runner
