// SPDX-License-Identifier: BSD-3-Clause
#include "base/extremes.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace runner {
namespace {

Json json_of(const ElementNumber& number) {
    return std::visit([](auto value) { return Json(value); }, number);
}

/// The text of a JSON number as T. @throws JsonError.
template <class T> T number_of(const Json& json) {
    const std::string text = json.text();
    T value{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size()) {
        throw JsonError(text + " is no such number");
    }
    return value;
}

ElementNumber number_of(const Json& json, const ArrayInfo& array) {
    switch (array.type) {
    case ElementType::uint64: return number_of<std::uint64_t>(json);
    case ElementType::float32:
    case ElementType::float64:
    case ElementType::bytes2: return number_of<double>(json); // float16
    default: return number_of<std::int64_t>(json);
    }
}

} // namespace

void join(std::optional<ValueRange>& all, const std::optional<ValueRange>& more) {
    if (!all || !more) {
        all = all ? all : more;
        return;
    }
    all->least = std::min(all->least, more->least);
    all->greatest = std::max(all->greatest, more->greatest);
}

void join(Extremes& all, const Extremes& more) {
    all.resize(std::max(all.size(), more.size()));
    for (std::size_t i = 0; i < more.size(); ++i) {
        join(all[i], more[i]);
    }
}

std::string to_text(const Extremes& extremes) {
    Json all = Json::array();
    for (const std::optional<ValueRange>& each : extremes) {
        all.push_back(each ? Json::array(json_of(each->least), json_of(each->greatest)) : Json());
    }
    return all.text();
}

std::optional<Extremes> extremes_of_text(std::string_view text, const ArrayInfo& array) {
    Extremes made;
    try {
        const Json json = Json::parse(text);
        for (const Json& each : json.values()) {
            made.emplace_back();
            if (each.is_array()) {
                made.back() = {number_of(each.at(std::size_t{0}), array),
                               number_of(each.at(1), array)};
            }
        }
    } catch (const JsonError&) {
        return std::nullopt;
    }
    return made;
}

} // namespace runner
