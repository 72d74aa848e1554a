// SPDX-License-Identifier: BSD-3-Clause
#include "runner/html.hpp"

#include "runner/page_assets.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace runner {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

/// With the unit that leaves one to three digits before the point.
std::string three_digits(double value, std::span<const char* const> units) {
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= 1000;
        ++unit;
    }
    const int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return decimal_text(value, digits) + " " + units[unit];
}

} // namespace

std::string html_text(std::string_view text) {
    std::string escaped;
    escaped.reserve(text.size());
    for (const char c : text) {
        switch (c) {
        case '&': escaped += "&amp;"; break;
        case '<': escaped += "&lt;"; break;
        case '>': escaped += "&gt;"; break;
        case '"': escaped += "&quot;"; break;
        case '\'': escaped += "&#39;"; break;
        default: escaped += c;
        }
    }
    return escaped;
}

std::string script_json(std::string json) {
    replace_all(json, "<", "\\u003c");
    return json;
}

std::string base64_text(std::span<const std::byte> bytes) {
    static constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            group = group << 8U |
                    (at + i < bytes.size() ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0U);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            text += at + i <= bytes.size() ? digits[group >> (18U - 6U * i) & 63U] : '=';
        }
    }
    return text;
}

std::string decimal_text(double value, int digits) {
    std::array<char, 400> buffer{};
    (void)std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
    std::string text = buffer.data();
    if (text.find('.') != std::string::npos) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') {
            text.pop_back();
        }
    }
    return text == "-0" ? "0" : text;
}

std::string rate_text(double bytes_per_second) {
    static constexpr std::array units = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
    return three_digits(bytes_per_second, units);
}

std::string short_time_text(double seconds) {
    static constexpr std::array units = {"µs", "ms", "s"};
    if (seconds >= 999.5) {
        const long long whole = std::llround(seconds);
        std::array<char, 48> text{};
        (void)std::snprintf(text.data(), text.size(), "%lld:%02lld:%02lld h", whole / 3600,
                            whole / 60 % 60, whole % 60);
        return text.data();
    }
    return three_digits(seconds * 1e6, units);
}

std::string html_table(const std::vector<std::vector<std::string>>& rows) {
    std::string text = "<div class=\"wide\"><table>\n";
    for (std::size_t row = 0; row < rows.size(); ++row) {
        text += "<tr>";
        for (const std::string& content : rows[row]) {
            text.append(row == 0 ? "<th>" : "<td>").append(content);
            text += row == 0 ? "</th>" : "</td>";
        }
        text += "</tr>\n";
    }
    return text + "</table></div>\n";
}

std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts) {
    std::string text = "<table class=\"facts\">\n";
    for (const auto& [name, value] : facts) {
        text.append("<tr><th>").append(name).append("</th><td>").append(value);
        text += "</td></tr>\n";
    }
    return text + "</table>\n";
}

std::string html_page(const std::string& title, const std::string& body) {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
           "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n"
           "<link rel=\"icon\" href=\"data:,\">\n<title>" +
           html_text(title) + "</title>\n<style>\n" + std::string(page_style) +
           "</style>\n</head>\n<body>\n" + body + "<script>\n" + std::string(page_script) +
           "</script>\n</body>\n</html>\n";
}

} // namespace runner
