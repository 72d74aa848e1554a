// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/toml_text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace runner {
namespace {

std::string element_text(double value) { return toml_text(value); }
std::string element_text(std::int64_t value) { return std::to_string(value); }

template <class T> std::string array_text(std::span<const T> values) {
    std::string text = "[";
    for (const T value : values) {
        text += (text.size() == 1 ? "" : ", ") + element_text(value);
    }
    return text + "]";
}

std::string escaped(char c) {
    switch (c) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: break;
    }
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x20 && code != 0x7f) {
        return std::string(1, c);
    }
    constexpr std::string_view digits = "0123456789abcdef";
    return std::string("\\u00") + digits[code >> 4U] + digits[code & 0xfU];
}

} // namespace

std::string toml_text(double value) {
    if (std::isnan(value)) {
        return "nan";
    }
    if (std::isinf(value)) {
        return value < 0 ? "-inf" : "inf";
    }
    std::array<char, 64> text{};
    const auto [end, failure] = std::to_chars(text.data(), text.data() + text.size(), value);
    static_cast<void>(failure); // 64 characters hold every double
    std::string result(text.data(), end);
    if (result.find_first_of(".e") == std::string::npos) {
        result += ".0";
    }
    return result;
}

std::string toml_text(std::string_view value) {
    std::string text = "\"";
    for (const char c : value) {
        text += escaped(c);
    }
    return text + "\"";
}

std::string quoted_text(std::string_view value) {
    std::size_t length = 60;
    if (value.size() <= length) {
        return toml_text(value);
    }
    const auto within_character = [&](std::size_t at) {
        return (static_cast<unsigned char>(value[at]) & 0xc0U) == 0x80U;
    };
    while (length > 0 && within_character(length)) {
        --length;
    }
    std::string text = toml_text(value.substr(0, length));
    text.insert(text.size() - 1, "…");
    return text;
}

std::string toml_text(std::span<const double> values) { return array_text(values); }
std::string toml_text(std::span<const std::int64_t> values) { return array_text(values); }

} // namespace runner
