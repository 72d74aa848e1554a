// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/ome_rules.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "io/rows/axes.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// The member of an object that the rules require.
const Json& required(const Json& object, const char* name, std::string_view of) {
    const Json* const found = object.find(name);
    if (found == nullptr) {
        throw JsonError(fmt::format("{} has no \"{}\"", of, name));
    }
    return *found;
}

/// A required member that is a list of at least one value.
const std::vector<Json>& required_list(const Json& object, const char* name, std::string_view of) {
    const Json& list = required(object, name, of);
    if (!list.is_array() || list.values().empty()) {
        throw JsonError(fmt::format("\"{}\" of {} is not a list of one or more", name, of));
    }
    return list.values();
}

std::string required_text(const Json& object, const char* name, std::string_view of) {
    const Json& text = required(object, name, of);
    if (!text.is_string()) {
        throw JsonError(fmt::format("\"{}\" of {} is not a text", name, of));
    }
    return text.get<std::string>();
}

/// The text of a member; empty where there is none, or it is no text.
std::string text_or_empty(const Json& object, const char* name) {
    const Json* const found = object.find(name);
    return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

/// Whether the rules of 0.4 and 0.5 hold for an image. @throws JsonError where its version and the
/// form that it has exclude each other.
bool has_rules(const Json* ome, const Json& image) {
    const std::string version = text_or_empty(ome == nullptr ? image : *ome, "version");
    constexpr std::array before = {"0.1", "0.2", "0.3"};
    const bool is_before = std::find(before.begin(), before.end(), version) != before.end();
    if (ome != nullptr) {
        if (is_before || version == "0.4") {
            throw JsonError("\"ome\" is of version 0.5, and says " + version);
        }
        return version.empty() || version == "0.5";
    }
    if (!is_before) {
        return version == "0.4";
    }
    const Json* const axes = image.find("axes");
    if (axes != nullptr && !axes->values().empty() && axes->values().front().is_object()) {
        throw JsonError("its axes are those of version 0.4, and it says " + version);
    }
    return false;
}

void check_axes(const std::vector<Json>& axes) {
    if (axes.size() < 2 || axes.size() > 5) {
        throw JsonError(
            fmt::format("it has {}, not two to five", counted(std::ssize(axes), "axis", "axes")));
    }
    std::vector<std::string> names;
    std::vector<std::string> types;
    for (const Json& axis : axes) {
        names.push_back(required_text(axis, "name", "an axis"));
        types.push_back(text_or_empty(axis, "type"));
        if (std::count(names.begin(), names.end(), names.back()) > 1) {
            throw JsonError("two of its axes are called \"" + printable(names.back()) + "\"");
        }
    }
    const auto of_type = [&](const char* type) {
        return std::count(types.begin(), types.end(), type);
    };
    if (of_type("space") < 2 || of_type("space") > 3) {
        throw JsonError(fmt::format("of its axes {} of type \"space\", not two or three",
                                    counted(of_type("space"), "is", "are")));
    }
    for (const char* const type : {"time", "channel"}) {
        if (of_type(type) > 1) {
            throw JsonError(fmt::format("several of its axes are of type \"{}\"", type));
        }
    }
}

/// A scale, and at most one translation: numbers for each axis.
void check_transforms(const std::vector<Json>& transforms, std::size_t axes, std::string_view of) {
    int scales = 0;
    int translations = 0;
    for (const Json& each : transforms) {
        const std::string type = required_text(each, "type", "a transformation");
        if (type != "scale" && type != "translation") {
            continue;
        }
        ++(type == "scale" ? scales : translations);
        const std::vector<Json>& numbers = required_list(each, type.c_str(), "a transformation");
        if (numbers.size() != axes ||
            !std::all_of(numbers.begin(), numbers.end(),
                         [](const Json& number) { return number.is_number(); })) {
            throw JsonError(
                fmt::format("a {} of {} is not {} numbers, one for each axis", type, of, axes));
        }
    }
    if (scales != 1 || translations > 1) {
        throw JsonError(fmt::format("{} has {} and {}, not one scale and at most one translation",
                                    of, counted(scales, "scale"),
                                    counted(translations, "translation")));
    }
}

void check_levels(const Json& image, std::size_t axes) {
    for (const Json& level : required_list(image, "datasets", "the image")) {
        const std::string of =
            "level \"" + printable(required_text(level, "path", "a level")) + "\"";
        check_transforms(required_list(level, "coordinateTransformations", of), axes, of);
    }
    if (image.find("coordinateTransformations") != nullptr) {
        check_transforms(required_list(image, "coordinateTransformations", "the image"), axes,
                         "the image");
    }
}

void check_channels(const Json& omero) {
    const Json& channels = required(omero, "channels", "\"omero\"");
    if (!channels.is_array()) {
        throw JsonError("\"channels\" of \"omero\" is not a list");
    }
    for (const Json& channel : channels.values()) {
        if (channel.find("color") != nullptr) {
            (void)required_text(channel, "color", "a channel");
        }
        const Json* const window = channel.find("window");
        for (const char* const end : {"min", "max", "start", "end"}) {
            const Json* const number = window == nullptr ? nullptr : window->find(end);
            if (number != nullptr && !number->is_number()) {
                throw JsonError(fmt::format("\"{}\" of a channel's window is not a number", end));
            }
        }
    }
}

} // namespace

std::optional<std::size_t> check_first_image(const Json& attributes) {
    const Json* const ome = attributes.find("ome");
    const Json& said = ome == nullptr ? attributes : *ome;
    const Json& image = required_list(said, "multiscales", "the group").front();
    if (!has_rules(ome, image)) {
        return std::nullopt;
    }
    const std::vector<Json>& axes = required_list(image, "axes", "the image");
    check_axes(axes);
    check_levels(image, axes.size());
    if (const Json* const omero = said.find("omero")) {
        check_channels(*omero);
    }
    return axes.size();
}

std::string ome_unit(std::string_view unit, std::string_view type) {
    using Names = std::vector<const char*>;
    static const Names lengths = {
        "meter",      "centimeter", "millimeter", "micrometer", "nanometer",  "angstrom",
        "picometer",  "inch",       "foot",       "yard",       "mile",       "parsec",
        "kilometer",  "hectometer", "decimeter",  "megameter",  "gigameter",  "terameter",
        "petameter",  "exameter",   "zettameter", "yottameter", "femtometer", "attometer",
        "zeptometer", "yoctometer"};
    static const Names times = {
        "second",     "millisecond", "microsecond", "nanosecond",  "minute",      "hour",
        "day",        "picosecond",  "femtosecond", "attosecond",  "zeptosecond", "yoctosecond",
        "decisecond", "centisecond", "hectosecond", "kilosecond",  "megasecond",  "gigasecond",
        "terasecond", "petasecond",  "exasecond",   "zettasecond", "yottasecond"};
    const bool is_time = type == "time";
    if (!is_time && type != "space") {
        return "";
    }
    const auto size_in = is_time ? seconds_in : metres_in;
    const std::optional<double> size = size_in(unit);
    for (const char* const name : is_time ? times : lengths) {
        if (size && size_in(name) == size) {
            return name;
        }
    }
    return "";
}

} // namespace runner
