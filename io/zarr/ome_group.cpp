// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/ome_group.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "io/rows/written_format.hpp"
#include "io/zarr/ome_rules.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

namespace runner {
namespace {

constexpr std::size_t most_ome_axes = 5;
constexpr std::int64_t most_channels = 1024; // which a viewer lists
constexpr const char* other_formats = "End the output's name in .zarr or .h5";

/// The type that OME-Zarr gives to an axis of this name; empty for one of its own.
std::string_view type_of(std::string_view name) {
    return name == "t"                                 ? "time"
           : name == "c"                               ? "channel"
           : name == "z" || name == "y" || name == "x" ? "space"
                                                       : "";
}

/// Time, then channels or another axis, then two or three of space.
bool is_ome_order(const std::vector<std::string>& names) {
    std::size_t at = 0;
    if (at < names.size() && type_of(names[at]) == "time") {
        ++at;
    }
    if (at < names.size() && type_of(names[at]) != "time" && type_of(names[at]) != "space") {
        ++at;
    }
    const std::size_t spaces = names.size() - at;
    return (spaces == 2 || spaces == 3) &&
           std::all_of(names.begin() + static_cast<std::ptrdiff_t>(at), names.end(),
                       [](const std::string& name) { return type_of(name) == "space"; });
}

/// The names that axes have in an OME-Zarr that they cannot be in by their own.
constexpr std::string_view usual_names = "tczyx";

std::string usual_name(std::size_t axis, std::size_t count) {
    return std::string(usual_names.substr(usual_names.size() - count + axis, 1));
}

/// The permutation that brings the axes into the order of OME-Zarr; empty where none does.
std::vector<std::int64_t> order_of(const std::vector<std::string>& names) {
    std::vector<std::int64_t> order(names.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const auto name_of_axis = [&](std::int64_t axis) -> const std::string& {
        return names[static_cast<std::size_t>(axis)];
    };
    const auto rank = [&](std::int64_t axis) {
        const std::string_view type = type_of(name_of_axis(axis));
        return type == "time" ? 0 : type == "space" ? 2 : 1;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return rank(a) < rank(b); });
    std::vector<std::string> sorted;
    sorted.reserve(order.size());
    for (const std::int64_t axis : order) {
        sorted.push_back(name_of_axis(axis));
    }
    return is_ome_order(sorted) ? order : std::vector<std::int64_t>();
}

/// What to do about axes in another order.
std::string way_to_order(const std::vector<std::string>& names) {
    const std::vector<std::int64_t> order = order_of(names);
    const std::string way =
        order.empty() ? "Take one number of an axis, as input.select = { c = 0 }"
                      : "Let transpose with permutation = " + shape_text(order) + " come before";
    return way + ", or end the output's name in .zarr, .h5 or .ome.tif";
}

/// The axes as they are written, and what is not said of them.
struct OmeAxes {
    Axes axes;
    std::vector<std::string> left_out;
};

bool has_image_axes(const ArrayInfo& array) {
    return array.shape.size() >= 2 && array.shape.size() <= most_ome_axes;
}

bool is_named(const Axes& axes) {
    return std::any_of(axes.each.begin(), axes.each.end(),
                       [](const Axis& axis) { return !axis.name.empty(); });
}

/// The names of axes, where nothing names one the usual one, or the first that no other axis has;
/// nothing where there are no names, or two are the same.
std::vector<std::string> completed_names(OutputDataset output) {
    Axes& axes = output.axes;
    const std::size_t count = output.array.shape.size();
    for (std::size_t i = 0; is_named(axes) && i < std::min(axes.each.size(), count); ++i) {
        if (!axes.each[i].name.empty()) {
            continue;
        }
        std::string name = usual_name(i, count);
        for (std::size_t other = 0; axes.find(name) && other < usual_names.size(); ++other) {
            name = usual_names.substr(other, 1);
        }
        axes.each[i].name = name;
    }
    return dimension_names(output);
}

OmeAxes ome_axes(const OutputDataset& output) {
    check_ome_array(output);
    const std::size_t count = output.array.shape.size();
    OmeAxes made{output.axes, {}};
    const std::vector<std::string> names = completed_names(output);
    const bool is_ordered = is_ome_order(names);
    made.axes.each.resize(count);
    for (std::size_t axis = 0; axis < count; ++axis) {
        made.axes.each[axis].name = is_ordered ? names[axis] : usual_name(axis, count);
    }
    if (!is_ordered) {
        constexpr std::size_t most_sure = 3; // z, y and x
        if (is_named(output.axes)) {
            made.left_out.push_back("the names of axes, " + output.axes.names() +
                                    ", which OME-Zarr has not in this order");
        } else if (count > most_sure) {
            made.left_out.push_back("the names of axes, which nothing says: they are taken for " +
                                    made.axes.names() + ", and input.axes of a job says others");
        }
    }
    for (Axis& axis : made.axes.each) {
        // A scale has to be there, and that of an unknown spacing is 1, which is so in no unit.
        const std::string unit = axis.spacing ? ome_unit(axis.unit, type_of(axis.name)) : "";
        if (unit.empty() && !axis.unit.empty()) {
            made.left_out.push_back("the unit " + axis.unit + " of axis " + axis.name);
        }
        axis.unit = unit;
    }
    const std::optional<std::size_t> channel = made.axes.find("c");
    const std::int64_t channels = channel ? output.array.shape[*channel] : 1;
    const bool is_same = channel == output.axes.find("c"); // which may have another name here
    if (!made.axes.channels.empty() &&
        (!is_same || channels > most_channels || channels != std::ssize(made.axes.channels))) {
        made.left_out.emplace_back("the names of channels");
        made.axes.channels.clear();
    }
    if (made.axes.has_wavelengths()) {
        made.left_out.emplace_back("the wavelengths of channels");
    }
    if (!is_same || channels != std::ssize(made.axes.colours)) {
        made.axes.colours.clear();
    }
    if (made.axes.sform || made.axes.qform) {
        made.left_out.emplace_back("the affine");
    }
    return made;
}

double as_double(const ElementNumber& number) {
    return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

Json json_of(const ElementNumber& number) {
    return std::visit([](auto value) { return Json(value); }, number);
}

/// `min` and `max` are the extremes, and what is drawn from black to white, which viewers refuse
/// to be nothing, is that or as far as 0 or 1.
Json window_of(const std::optional<ValueRange>& range) {
    if (!range) {
        return Json{{"min", 0}, {"max", 1}, {"start", 0}, {"end", 1}};
    }
    const bool is_one = range->least == range->greatest;
    const double value = as_double(range->least);
    return Json{{"min", json_of(range->least)},
                {"max", json_of(range->greatest)},
                {"start", is_one && value > 0 ? Json(0) : json_of(range->least)},
                {"end", is_one && value < 1 ? Json(1) : json_of(range->greatest)}};
}

Json channel_list(const Axes& axes, const Extremes& extremes) {
    constexpr std::array colours = {"00FF00", "FF0000", "0000FF", "FF00FF", "00FFFF", "FFFF00"};
    Json list = Json::array();
    for (std::size_t i = 0; i < extremes.size(); ++i) {
        Json channel = Json::object();
        if (!axes.channels.empty() && !axes.channels[i].empty()) {
            channel["label"] = axes.channels[i];
        }
        const bool has_colour = !axes.colours.empty() && !axes.colours[i].empty();
        channel["color"] = has_colour             ? axes.colours[i]
                           : extremes.size() == 1 ? std::string("FFFFFF")
                                                  : std::string(colours.at(i % colours.size()));
        channel["active"] = true;
        channel["window"] = window_of(extremes[i]);
        list.push_back(std::move(channel));
    }
    return list;
}

void add_axis_losses(const Axes& axes, std::vector<std::string>& left_out) {
    for (std::size_t i = 0; i < axes.each.size(); ++i) {
        const Axis& axis = axes.each[i];
        const std::string name = axis.name.empty() ? std::to_string(i) : axis.name;
        if (axis.spacing) {
            left_out.push_back("the spacing of axis " + name);
        }
        if (axis.origin.value_or(0) != 0 && !axes.sform && !axes.qform) {
            left_out.push_back("the place of the first element along axis " + name);
        }
    }
}

/// A level in whose blocks there are so many elements along the last three axes. An element lies in
/// the middle of its block.
Json level_json(const Axes& axes, const std::array<std::int64_t, 3>& factors, std::int64_t level) {
    Json scale = Json::array();
    Json translation = Json::array();
    bool is_moved = false;
    for (std::size_t i = 0; i < axes.each.size(); ++i) {
        const Axis& axis = axes.each[i];
        const std::size_t behind = axes.each.size() - i;
        const auto factor =
            static_cast<double>(behind <= factors.size() ? factors[factors.size() - behind] : 1);
        const double spacing = axis.spacing.value_or(1.0);
        const double origin = axis.origin.value_or(0.0) + (factor - 1) / 2 * spacing;
        scale.push_back(spacing * factor);
        translation.push_back(origin);
        is_moved = is_moved || origin != 0.0;
    }
    Json transformations = Json::array();
    transformations.push_back({{"type", "scale"}, {"scale", std::move(scale)}});
    if (is_moved) {
        transformations.push_back(
            {{"type", "translation"}, {"translation", std::move(translation)}});
    }
    return {{"path", std::to_string(level)},
            {"coordinateTransformations", std::move(transformations)}};
}

/// What is said of the image: `multiscales`, and `omero` where extremes are known.
Json image_attributes(const OutputDataset& output) {
    const OmeAxes made = ome_axes(output);
    Json axes = Json::array();
    for (const Axis& axis : made.axes.each) {
        Json one{{"name", axis.name}};
        if (!type_of(axis.name).empty()) {
            one["type"] = std::string(type_of(axis.name));
        }
        if (!axis.unit.empty()) {
            one["unit"] = axis.unit;
        }
        axes.push_back(std::move(one));
    }
    Json datasets = Json::array();
    datasets.push_back(level_json(made.axes, {1, 1, 1}, 0));
    const std::vector<CoarserLevel> levels = coarser_levels(output);
    for (const CoarserLevel& level : levels) {
        datasets.push_back(
            level_json(made.axes, level.factors, level.dataset.layout.pyramid.level));
    }
    Json image = Json::object();
    if (output.layout.ngff == Ngff::v0_4) {
        image["version"] = "0.4";
    }
    image["axes"] = std::move(axes);
    image["datasets"] = std::move(datasets);
    if (!levels.empty()) {
        const Pyramid& pyramid = output.layout.pyramid;
        image["type"] = downsample_names.at(static_cast<std::size_t>(pyramid.downsample));
    }
    Json images = Json::array();
    images.push_back(std::move(image));
    Json attributes{{"multiscales", std::move(images)}};
    if (!output.extremes.empty()) {
        attributes["omero"] = Json{{"channels", channel_list(made.axes, output.extremes)}};
    }
    return attributes;
}

} // namespace

std::vector<std::string> dimension_names(const OutputDataset& output) {
    std::vector<std::string> names;
    std::set<std::string> different;
    bool fits = output.axes.each.size() == output.array.shape.size();
    for (const Axis& axis : output.axes.each) {
        names.push_back(axis.name);
        fits = fits && (axis.name.empty() || different.insert(axis.name).second);
    }
    return fits && !different.empty() ? names : std::vector<std::string>();
}

void check_ome_array(const OutputDataset& output) {
    std::string why;
    if (!has_image_axes(output.array)) {
        why = "an image of OME-Zarr has two to five axes";
    } else if (output.layout.channels.value_or(1) > 1) {
        why = "an image of OME-Zarr has no samples of colour along its last axis";
    }
    if (!why.empty()) {
        throw Error(ExitCode::usage, {"cannot make an OME-Zarr", shape_text(output.array.shape),
                                      why, other_formats});
    }
}

void check_ome_order(const OutputDataset& output) {
    const std::vector<std::string> names = completed_names(output);
    if (names.empty() || is_ome_order(names)) {
        return;
    }
    for (std::size_t axis = 0; axis < names.size(); ++axis) {
        const bool is_known = usual_names.find(names[axis]) != std::string_view::npos;
        if (is_known && names[axis].size() == 1 && names[axis] != usual_name(axis, names.size())) {
            throw Error(ExitCode::usage,
                        {"cannot make an OME-Zarr", output.axes.names(),
                         "its axes are not in the order of OME-Zarr: t, then c or another one, "
                         "then z, y and x",
                         way_to_order(names)});
        }
    }
}

std::vector<std::string> ome_axis_names(const OutputDataset& output) {
    std::vector<std::string> names;
    for (const Axis& axis : ome_axes(output).axes.each) {
        names.push_back(axis.name);
    }
    return names;
}

Axes ome_image_axes(const OutputDataset& output) { return ome_axes(output).axes; }

bool is_space(std::string_view name) { return type_of(name) == "space"; }

std::optional<Channels> ome_channels(const OutputDataset& output) {
    if (!has_image_axes(output.array)) {
        return std::nullopt; // place_zarr() refuses it
    }
    Channels channels;
    if (const std::optional<std::size_t> axis = ome_axes(output).axes.find("c")) {
        const std::span<const std::int64_t> shape = output.array.shape;
        const std::size_t frames = shape.size() - 2; // y and x are the last two axes
        channels.count = shape[*axis];
        channels.stride = checked_product(shape.first(frames).subspan(*axis + 1));
    }
    return channels.count > most_channels ? std::nullopt : std::optional(channels);
}

std::string ome_group_text(const OutputDataset& output) {
    Json ome{{"version", "0.5"}};
    Json attributes = image_attributes(output);
    for (const char* const name : {"multiscales", "omero"}) {
        if (attributes.find(name) != nullptr) {
            ome[name] = std::move(attributes[name]);
        }
    }
    const Json json{
        {"zarr_format", 3}, {"node_type", "group"}, {"attributes", Json{{"ome", std::move(ome)}}}};
    return json.lines(2, 80) + "\n";
}

std::string ome_attributes_text(const OutputDataset& output) {
    return image_attributes(output).lines(2, 80) + "\n";
}

std::vector<std::string> left_out_of_array(const OutputDataset& output) {
    std::vector<std::string> left_out;
    add_axis_losses(output.axes, left_out);
    if (output.axes.sform || output.axes.qform) {
        left_out.emplace_back("the affine");
    }
    if (!output.axes.channels.empty()) {
        left_out.emplace_back("the names of channels");
    }
    if (output.axes.colours.size() > 1) {
        left_out.emplace_back("the colours of channels");
    }
    if (output.axes.has_wavelengths()) {
        left_out.emplace_back("the wavelengths of channels");
    }
    return left_out;
}

std::vector<std::string> left_out_of_ome(const OutputDataset& output) {
    return ome_axes(output).left_out;
}

} // namespace runner
