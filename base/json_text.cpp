// SPDX-License-Identifier: BSD-3-Clause
#include "base/json_text.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace runner {

JsonText::JsonText(std::string_view text) : text_(text) {
    if (text.find("NaN") == std::string_view::npos &&
        text.find("Infinity") == std::string_view::npos) {
        return;
    }
    copy_.reserve(text.size());
    while (copy_.size() < text.size()) {
        const std::size_t at = copy_.size();
        const std::size_t end = text[at] == '"' ? end_of_string(at) : end_of_word(at);
        copy(text.substr(at, std::max(end - at, std::size_t{1})));
    }
    text_ = copy_;
}

std::optional<double> JsonText::replaced(std::size_t before) const {
    const auto found = replaced_.find(before);
    return found == replaced_.end() ? std::nullopt : std::optional(found->second);
}

/// Behind the string that begins here.
std::size_t JsonText::end_of_string(std::size_t at) const {
    for (++at; at < text_.size() && text_[at] != '"'; ++at) {
        at += text_[at] == '\\' ? 1 : 0;
    }
    return std::min(at + 1, text_.size());
}

/// Behind the number or name that begins here; here where none does.
std::size_t JsonText::end_of_word(std::size_t at) const {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-._";
    return std::min(text_.find_first_not_of(letters, at), text_.size());
}

/// Adds a string, a whole number or name, or one other byte to the copy.
void JsonText::copy(std::string_view part) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr std::array<std::pair<std::string_view, double>, 3> names = {
        {{"NaN", std::numeric_limits<double>::quiet_NaN()},
         {"Infinity", infinity},
         {"-Infinity", -infinity}}};
    const auto* const found = std::find_if(names.begin(), names.end(),
                                           [&](const auto& each) { return each.first == part; });
    if (found != names.end()) {
        replaced_.emplace(numbers_++, found->second);
        copy_.append("0e").append(part.size() - 2, '0');
        return;
    }
    numbers_ += part[0] == '-' || (part[0] >= '0' && part[0] <= '9') ? 1 : 0;
    copy_.append(part);
}

} // namespace runner
