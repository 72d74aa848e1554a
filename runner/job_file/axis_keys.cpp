// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/axis_keys.hpp"

#include "base/format.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <span>

namespace runner {
namespace {

std::string parse_letters(TableReader& input) {
    std::string letters = input.text("axes").value_or("");
    for (std::size_t i = 0; i < letters.size(); ++i) {
        const auto letter = static_cast<unsigned char>(letters[i]);
        letters[i] = static_cast<char>(std::tolower(letter));
        if (letter >= 0x80 || std::isalpha(letter) == 0) {
            input.complain("axes", "expected a letter for each axis, as \"tczyx\", got " +
                                       quoted_text(letters));
            return "";
        }
        if (letters.find(letters[i]) < i) {
            input.complain("axes", fmt::format("has the letter {} twice, and each axis has a name "
                                               "of its own",
                                               letters[i]));
            return "";
        }
    }
    if (const std::size_t s = letters.find('s');
        s != std::string::npos && s + 1 != letters.size()) {
        input.complain("axes", "has s, the samples of a colour pixel, before the last axis; call "
                               "it c, or bring it to the end with runner and kind = \"transpose\"");
        return "";
    }
    if (letters.empty() && input.has("axes")) {
        input.complain("axes", "is empty: write a letter for each axis, as \"tczyx\"");
    }
    return letters;
}

/// A number above 0.
std::optional<double> distance_of(const TableValue& value) {
    double number = 0;
    if (const auto* const whole = std::get_if<std::int64_t>(&value.data)) {
        number = static_cast<double>(*whole);
    } else if (const auto* const real = std::get_if<double>(&value.data)) {
        number = *real;
    }
    return std::isfinite(number) && number > 0 ? std::optional(number) : std::nullopt;
}

void parse_spacing(TableReader& input, AxisKeys& keys) {
    constexpr const char* expected =
        "expected numbers above 0 for the last axes, as [2.0, 0.5, 0.5], or by name, as "
        "{ z = 2.0, y = 0.5, x = 0.5, unit = \"um\" }";
    const TableValue* const value = input.value("spacing");
    if (value == nullptr) {
        return;
    }
    bool good = true;
    if (const auto* const list = std::get_if<TableArray>(&value->data)) {
        for (const TableValue& each : *list) {
            const std::optional<double> distance = distance_of(each);
            good = good && distance.has_value();
            keys.spacing.push_back(distance.value_or(1));
        }
        good = good && !list->empty();
    } else if (const auto* const table = std::get_if<TableEntries>(&value->data)) {
        for (const TableEntry& entry : *table) {
            const std::optional<double> distance = distance_of(entry.value);
            const auto* const text = std::get_if<std::string>(&entry.value.data);
            if (entry.key == "unit" && text != nullptr) {
                keys.unit = *text;
            } else {
                good = good && distance.has_value();
                keys.named_spacing.emplace_back(entry.key, distance.value_or(1));
            }
        }
        good = good && !keys.named_spacing.empty();
    } else {
        good = false;
    }
    if (!good) {
        input.complain("spacing", expected);
    }
}

void parse_select(TableReader& input, AxisKeys& keys) {
    const TableValue* const value = input.value("select");
    if (value == nullptr) {
        return;
    }
    const auto* const table = std::get_if<TableEntries>(&value->data);
    if (table == nullptr) {
        input.complain("select",
                       "expected a table of axes, as { c = \"DAPI\", t = \"0:10\" }, got " +
                           type_name(*value));
        return;
    }
    for (const TableEntry& entry : *table) {
        AxisSelection one{entry.key, {}};
        if (const auto* const index = std::get_if<std::int64_t>(&entry.value.data)) {
            one.taken = *index;
        } else if (const auto* const text = std::get_if<std::string>(&entry.value.data)) {
            const std::optional<IndexRange> range = range_of_text(*text);
            if (range) {
                one.taken = *range;
            } else {
                one.taken = *text;
            }
        } else {
            input.complain("select", entry.key + " is " + type_name(entry.value) +
                                         "; expected an index, a range like \"0:10\" or \"::2\", "
                                         "or the name of a channel");
        }
        keys.select.push_back(std::move(one));
    }
}

std::string key_text(const std::string& key) {
    const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char letter) {
        return letter < 0x80 && (std::isalnum(letter) != 0 || letter == '_' || letter == '-');
    });
    return bare ? key : toml_text(std::string_view(key));
}

} // namespace

AxisKeys parse_axis_keys(TableReader& input) {
    AxisKeys keys;
    keys.letters = parse_letters(input);
    parse_spacing(input, keys);
    parse_select(input, keys);
    return keys;
}

std::string spacing_text(const AxisKeys& keys) {
    std::string text;
    for (const double each : keys.spacing) {
        text += (text.empty() ? "[" : ", ") + toml_text(each);
    }
    if (!keys.spacing.empty()) {
        return text + "]";
    }
    for (const auto& [axis, each] : keys.named_spacing) {
        text += (text.empty() ? "{ " : ", ") + key_text(axis) + " = " + toml_text(each);
    }
    if (!keys.unit.empty()) {
        text += ", unit = " + toml_text(std::string_view(keys.unit));
    }
    return text.empty() ? "" : text + " }";
}

std::string toml_lines(const AxisKeys& keys) {
    std::string text;
    if (!keys.letters.empty()) {
        text += "axes = " + toml_text(std::string_view(keys.letters)) + "\n";
    }
    if (keys.sets_spacing()) {
        text += "spacing = " + spacing_text(keys) + "\n";
    }
    std::string select;
    for (const AxisSelection& each : keys.select) {
        select += (select.empty() ? "" : ", ") + key_text(each.axis) + " = ";
        if (const auto* const index = std::get_if<std::int64_t>(&each.taken)) {
            select += std::to_string(*index);
        } else if (const auto* const range = std::get_if<IndexRange>(&each.taken)) {
            select += toml_text(*range);
        } else {
            select += toml_text(std::string_view(std::get<std::string>(each.taken)));
        }
    }
    return text + (select.empty() ? "" : "select = { " + select + " }\n");
}

} // namespace runner
