// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/zarr_invalid.hpp"

#include "base/format.hpp"
#include "base/json.hpp"
#include "base/rounding.hpp"
#include "io/zarr/zarr_scales.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace runner {
namespace {

/// xarray's text of a float64, of whatever type the elements are: the base64 of its bytes, the
/// lowest first.
std::optional<double> real_of_base64(std::string_view text) {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    constexpr std::size_t length = 12; // 11 letters of 6 bits, 2 of them unused, and '='
    constexpr int unused = 2;
    if (text.size() != length || text.back() != '=') {
        return std::nullopt;
    }
    std::uint64_t bits = 0; // of the bytes, the lowest first
    for (std::size_t i = 0; i + 1 < length; ++i) {
        const std::size_t letter = letters.find(text[i]);
        if (letter == std::string_view::npos) {
            return std::nullopt;
        }
        bits = i + 2 == length ? (bits << (6 - unused)) | (letter >> unused) : (bits << 6) | letter;
    }
    std::uint64_t turned = 0;
    for (int byte = 0; byte < 8; ++byte) {
        turned = (turned << 8) | ((bits >> (8 * byte)) & 0xFF);
    }
    return std::bit_cast<double>(turned);
}

std::optional<double> real_of_text(const std::string& text) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (text == "NaN" || text == "nan") {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (text == "Infinity" || text == "-Infinity") {
        return text.front() == '-' ? -infinity : infinity;
    }
    return real_of_base64(text);
}

/// A value that an attribute says. `number` is empty where a float64 does not tell it from others.
struct Said {
    std::string text;
    std::optional<double> number;
};

std::string number_text(double value) {
    return std::isnan(value) ? "nan" : fmt::format("{:.9g}", value);
}

/// Nothing for what is no number.
std::optional<Said> said_by(const Json& value, ElementType type) {
    std::optional<double> real;
    if (value.is_string()) {
        real = real_of_text(value.get<std::string>());
    } else if (value.is_number()) {
        real = value.get<double>();
        const std::string text = value.text();
        if (std::isfinite(*real) && text.find_first_of(".eE") == std::string::npos) {
            try {
                return Said{text, exact_float64(value.get<std::int64_t>())};
            } catch (const JsonError&) { // beyond int64
                return Said{text, std::nullopt};
            }
        }
    }
    if (!real) {
        return std::nullopt;
    }
    const bool is_narrow = type == ElementType::float32;
    return Said{number_text(*real),
                is_narrow ? static_cast<double>(static_cast<float>(*real)) : *real};
}

/// The same of one value or a list: of several no number.
Said all_said_by(const Json& value, ElementType type) {
    if (!value.is_array()) {
        return said_by(value, type).value_or(Said{});
    }
    Said all;
    for (const Json& each : value.values()) {
        if (const std::optional<Said> said = said_by(each, type)) {
            all.number = all.text.empty() ? said->number : std::nullopt;
            all.text += (all.text.empty() ? "" : ", ") + said->text;
        }
    }
    return all;
}

void add_mark(const std::string& name, const Json* value, DatasetInfo& info) {
    const Said said = value == nullptr ? Said{} : all_said_by(*value, info.array.type);
    if (!said.text.empty()) {
        info.invalid.push_back(name + " = " + said.text);
        info.invalid_value = info.invalid_value ? info.invalid_value : said.number;
    }
}

} // namespace

void describe_invalid(ZarrStore& store, const std::string& array, std::string_view metadata,
                      DatasetInfo& info) {
    try {
        const Json attributes = zarr_attributes(store, array);
        const Json node = Json::parse(metadata);
        for (const char* name : {"_FillValue", "missing_value"}) {
            add_mark(name, attributes.find(name), info);
        }
        const Json* const fill = node.find("fill_value");
        // xarray reads it so of version 2 alone.
        const bool is_of_xarray = node.value<std::int64_t>("zarr_format", 0) == 2 &&
                                  attributes.find("_ARRAY_DIMENSIONS") != nullptr;
        if (fill != nullptr && is_of_xarray && info.invalid.empty() &&
            !(fill->is_number() && fill->get<double>() == 0)) {
            add_mark("fill_value", fill, info);
        }
        for (const char* name : range_attributes) {
            const Json* const value = attributes.find(name);
            const Said said = value == nullptr ? Said{} : all_said_by(*value, info.array.type);
            if (!said.text.empty()) {
                info.invalid.push_back(range_mark(std::string(name) + " = " + said.text));
            }
        }
    } catch (const JsonError&) {
        return; // they say nothing
    }
}

} // namespace runner
