// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/placement.hpp"

#include "base/format.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace runner {
namespace {

using Affine = Placement::Affine;
using Vector = Placement::Vector;

constexpr std::size_t longest_unit = 64;
constexpr std::int64_t highest_code = 1 << 15;

void add(Vector& to, double times, const Vector& step) {
    for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] += times * step[i];
    }
}

std::optional<Affine> moved(const std::optional<Affine>& whole,
                            const std::vector<AxisOrigin>& axes) {
    if (!whole) {
        return std::nullopt;
    }
    Affine made{whole->code, {}, whole->beside, whole->origin};
    std::vector<bool> taken(whole->steps.size(), false);
    for (const AxisOrigin& axis : axes) {
        made.steps.push_back({});
        if (axis.axis < 0) {
            continue;
        }
        const auto from = static_cast<std::size_t>(axis.axis);
        const Vector& step = whole->steps[from];
        taken[from] = true;
        if (axis.step == 0 && step != Vector{}) {
            return std::nullopt;
        }
        add(made.steps.back(), axis.step, step);
        add(made.origin, axis.first, step);
    }
    for (std::size_t axis = 0; axis < taken.size(); ++axis) {
        if (!taken[axis] && whole->steps[axis] != Vector{}) {
            made.beside.push_back(whole->steps[axis]);
        }
    }
    return made;
}

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

} // namespace

Placement placed(const Placement& whole, const std::vector<AxisOrigin>& axes) {
    Placement made;
    if (!whole.known()) {
        return made;
    }
    for (const AxisOrigin& axis : axes) {
        made.axes.emplace_back();
        if (axis.axis >= 0) {
            const Placement::Axis& from = whole.axes[static_cast<std::size_t>(axis.axis)];
            made.axes.back() = {axis.step * from.spacing, from.unit,
                                from.origin + axis.first * from.spacing};
        }
    }
    made.sform = moved(whole.sform, axes);
    made.qform = moved(whole.qform, axes);
    return made;
}

std::optional<double> metres_in(std::string_view unit) {
    struct Length {
        std::string_view names; ///< with a space before and behind each
        double metres;
    };
    static constexpr std::array lengths = {
        Length{" m metre metres meter meters ", 1},
        Length{" cm centimetre centimetres centimeter centimeters ", 1e-2},
        Length{" mm millimetre millimetres millimeter millimeters ", 1e-3},
        Length{" um µm μm micron microns micrometre micrometres micrometer micrometers ", 1e-6},
        Length{" nm nanometre nanometres nanometer nanometers ", 1e-9},
        Length{" angstrom angstroms Angstrom Angstroms Å A ", 1e-10},
        Length{" pm picometre picometres picometer picometers ", 1e-12},
    };
    if (unit.empty() || unit.find(' ') != std::string_view::npos) {
        return std::nullopt;
    }
    const std::string word = " " + std::string(unit) + " ";
    const auto* found = std::find_if(lengths.begin(), lengths.end(), [&](const Length& each) {
        return each.names.find(word) != std::string_view::npos;
    });
    return found == lengths.end() ? std::nullopt : std::optional(found->metres);
}

std::string to_text(const Placement& placement) {
    if (!placement.known()) {
        return "";
    }
    Json axes = Json::array();
    for (const Placement::Axis& axis : placement.axes) {
        axes.push_back(
            Json{{"spacing", axis.spacing}, {"unit", axis.unit}, {"origin", axis.origin}});
    }
    Json json{{"axes", std::move(axes)}};
    if (placement.sform) {
        json["sform"] = json_of(*placement.sform);
    }
    if (placement.qform) {
        json["qform"] = json_of(*placement.qform);
    }
    return json.text();
}

std::optional<Placement> placement_of(std::string_view text, std::size_t axes) {
    Placement made;
    if (text.empty()) {
        return made;
    }
    try {
        const Json json = Json::parse(text);
        if (json.at("axes").values().size() != axes) {
            return std::nullopt;
        }
        for (const Json& each : json.at("axes").values()) {
            Placement::Axis axis{each.at("spacing").get<double>(),
                                 printable(each.at("unit").get<std::string>()),
                                 each.at("origin").get<double>()};
            if (axis.spacing < 0 || axis.unit.size() > longest_unit) {
                return std::nullopt;
            }
            made.axes.push_back(std::move(axis));
        }
        made.sform = affine_of(json.find("sform"), axes);
        made.qform = affine_of(json.find("qform"), axes);
    } catch (const JsonError&) {
        return std::nullopt;
    }
    return made;
}

std::string spacing_text(const Placement& placement) {
    const std::vector<Placement::Axis>& axes = placement.axes;
    if (std::all_of(axes.begin(), axes.end(), [](const auto& axis) { return axis.spacing == 0; })) {
        return "";
    }
    std::string text;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const Placement::Axis& each = axes[axis];
        text += (axis == 0 ? "" : " × ") +
                (each.spacing == 0 ? std::string("?") : fmt::format("{:.7g}", each.spacing));
        const bool last = axis + 1 == axes.size() || axes[axis + 1].unit != each.unit;
        text += last && !each.unit.empty() ? " " + each.unit : "";
    }
    const auto add_form = [&](const std::optional<Affine>& form, const char* name) {
        text += form ? fmt::format(", {} {}", name, form->code) : "";
    };
    add_form(placement.sform, "sform");
    add_form(placement.qform, "qform");
    return text;
}

} // namespace runner
