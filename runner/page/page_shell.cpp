// SPDX-License-Identifier: BSD-3-Clause
#include "runner/page/page_shell.hpp"

#include <cstdint>

namespace runner {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

} // namespace

std::string page_html(std::span<const PageData> data) {
    static constexpr std::string_view mark = "<!-- data -->\n";
    const std::size_t place = page_shell.find(mark);
    std::string page(page_shell.substr(0, place));
    for (const auto& [id, json] : data) {
        page.append("<script type=\"application/json\" id=\"").append(id).append("\">");
        page.append(script_json(json)).append("</script>\n");
    }
    return page.append(page_shell.substr(place + mark.size()));
}

std::string script_json(std::string_view json) {
    static constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (json.starts_with(byte_order_mark)) {
        json.remove_prefix(byte_order_mark.size()); // JSON.parse refuses it
    }
    std::string text(json);
    replace_all(text, "<", "\\u003c");
    replace_all(text, ">", "\\u003e");
    replace_all(text, "\xE2\x80\xA8", "\\u2028");
    replace_all(text, "\xE2\x80\xA9", "\\u2029");
    return text;
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

} // namespace runner
