// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/axes.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runner {
namespace {

using Vector = Affine::Vector;

constexpr std::int64_t highest_code = 1 << 15;

Json json_of(const std::vector<Vector>& vectors) {
    Json all = Json::array();
    for (const Vector& each : vectors) {
        all.push_back(Json::array(each[0], each[1], each[2]));
    }
    return all;
}

Json json_of(const Affine& affine) {
    return Json{{"code", affine.code},
                {"steps", json_of(affine.steps)},
                {"beside", json_of(affine.beside)},
                {"origin", Json::array(affine.origin[0], affine.origin[1], affine.origin[2])}};
}

/// @throws JsonError for infinities and NaN, which are written as null.
Vector vector_of(const Json& json) {
    return {json.at(std::size_t{0}).get<double>(), json.at(1).get<double>(),
            json.at(2).get<double>()};
}

std::vector<Vector> vectors_of(const Json& json, std::size_t most) {
    if (json.values().size() > most) {
        throw JsonError("there are too many steps");
    }
    std::vector<Vector> all;
    for (const Json& each : json.values()) {
        all.push_back(vector_of(each));
    }
    return all;
}

std::optional<Affine> affine_of(const Json* json, std::size_t axes) {
    if (json == nullptr) {
        return std::nullopt;
    }
    Affine affine{json->at("code").get<std::int64_t>(), vectors_of(json->at("steps"), axes),
                  vectors_of(json->at("beside"), 3), vector_of(json->at("origin"))};
    if (affine.steps.size() != axes || affine.code < 1 || affine.code > highest_code) {
        throw JsonError("the affine is of other axes");
    }
    return affine;
}

Json json_of(const Axis& axis) {
    Json json = Json::object();
    if (!axis.name.empty()) {
        json["name"] = axis.name;
    }
    if (!axis.unit.empty()) {
        json["unit"] = axis.unit;
    }
    if (axis.spacing) {
        json["spacing"] = *axis.spacing;
    }
    if (axis.origin) {
        json["origin"] = *axis.origin;
    }
    return json;
}

std::string text_in(const Json& json, const char* key) {
    const Json* const found = json.find(key);
    return found == nullptr ? "" : printable(found->get<std::string>());
}

std::vector<std::string> texts_in(const Json& json, const char* key) {
    static const Json none;
    const Json* const found = json.find(key);
    std::vector<std::string> texts;
    for (const Json& each : (found == nullptr ? none : *found).values()) {
        texts.push_back(printable(each.get<std::string>()));
    }
    return texts;
}

std::optional<double> number_in(const Json& json, const char* key) {
    const Json* const found = json.find(key);
    return found == nullptr ? std::nullopt : std::optional(found->get<double>());
}

} // namespace

std::string to_text(const Axes& axes) {
    if (!axes.known()) {
        return "";
    }
    Json each = Json::array();
    for (const Axis& axis : axes.each) {
        each.push_back(json_of(axis));
    }
    Json json{{"axes", std::move(each)}};
    for (const ChannelList& list : channel_lists) {
        if (!(axes.*list.list).empty()) {
            json[list.name] = axes.*list.list;
        }
    }
    if (axes.sform) {
        json["sform"] = json_of(*axes.sform);
    }
    if (axes.qform) {
        json["qform"] = json_of(*axes.qform);
    }
    return json.text();
}

std::optional<Axes> axes_of_text(std::string_view text, std::size_t count) {
    Axes made;
    if (text.empty()) {
        return made;
    }
    try {
        const Json json = Json::parse(text);
        for (const Json& each : json.at("axes").values()) {
            made.each.push_back({text_in(each, "name"), text_in(each, "unit"),
                                 number_in(each, "spacing"), number_in(each, "origin")});
            if (made.each.back().spacing.value_or(1) <= 0) {
                return std::nullopt;
            }
        }
        for (const ChannelList& list : channel_lists) {
            made.*list.list = texts_in(json, list.name);
        }
        made.sform = affine_of(json.find("sform"), count);
        made.qform = affine_of(json.find("qform"), count);
    } catch (const JsonError&) {
        return std::nullopt;
    }
    return made.each.size() == count ? std::optional(std::move(made)) : std::nullopt;
}

} // namespace runner
