// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/zarr_scales.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "io/zarr/ome_images.hpp"
#include "io/zarr/ome_rules.hpp"
#include "io/zarr/zarr_array.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace runner {
namespace {

std::string joined(const std::string& group, const std::string& name) {
    return group.empty() || name.empty() ? group + name : group + "/" + name;
}

/// A path as the store has its names: without slashes at its ends.
std::string trimmed(std::string path) {
    while (!path.empty() && path.back() == '/') {
        path.pop_back();
    }
    const std::size_t begin = path.find_first_not_of('/');
    return begin == std::string::npos ? "" : path.substr(begin);
}

/// The images that the attributes of a group list; none of another group.
const std::vector<Json>& images_of(const Json& attributes) {
    const Json* const ome = attributes.find("ome");
    const Json* const found = (ome == nullptr ? attributes : *ome).find("multiscales");
    static const Json none;
    return (found == nullptr ? none : *found).values();
}

/// element = scale · index + translation.
struct Transform {
    std::vector<double> scale;
    std::vector<double> translation;

    explicit Transform(std::size_t axes) : scale(axes, 1.0), translation(axes, 0.0) {}

    /// Adds transformations behind this one. @throws JsonError where they do not fit the axes.
    void add(const Json* list) {
        static const Json none;
        for (const Json& each : (list == nullptr ? none : *list).values()) {
            const auto type = each.get<std::string>("type");
            for (std::size_t axis = 0; axis < scale.size(); ++axis) {
                if (type == "scale") {
                    const auto factor = each.at("scale").at(axis).get<double>();
                    scale[axis] *= factor;
                    translation[axis] *= factor;
                } else if (type == "translation") {
                    translation[axis] += each.at("translation").at(axis).get<double>();
                }
            }
        }
    }
};

/// The name that an axis has here by its type, whatever its group calls it: of a channel "c", of
/// time "t", of space "z", "y" and "x".
std::string name_by_type(const Json& axis) {
    const auto type = axis.value<std::string>("type", "");
    std::string name = printable(axis.value<std::string>("name", ""));
    if (type == "space" && (name == "Z" || name == "Y" || name == "X")) {
        name.front() = static_cast<char>(name.front() - 'A' + 'a');
    }
    return type == "channel" ? "c" : type == "time" ? "t" : name;
}

/// The names of axes: those by their types where no other axis has the same.
std::vector<std::string> names_of(const std::vector<Json>& axes) {
    std::vector<std::string> said;
    std::vector<std::string> names;
    for (const Json& axis : axes) {
        // In NGFF 0.3 an axis is its name alone.
        said.push_back(printable(axis.is_string() ? axis.get<std::string>()
                                                  : axis.value<std::string>("name", "")));
        names.push_back(axis.is_string() ? said.back() : name_by_type(axis));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] != said[i] && std::count(names.begin(), names.end(), names[i]) > 1) {
            names[i] = said[i];
        }
    }
    return names;
}

/// The axes of a level. @throws JsonError where the description does not fit.
Axes axes_of(const Json& image, const Json& level, std::span<const std::int64_t> shape) {
    const std::vector<Json>& named = image.at("axes").values();
    if (named.size() != shape.size()) {
        throw JsonError("it has " + std::to_string(named.size()) + " axes");
    }
    Transform transform(shape.size());
    transform.add(level.find("coordinateTransformations"));
    transform.add(image.find("coordinateTransformations"));
    std::vector<std::string> names = names_of(named);
    Axes made;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const bool is_name = named[i].is_string();
        Axis axis;
        axis.name = std::move(names[i]);
        if (is_name || named[i].value<std::string>("type", "") != "channel") {
            axis.unit =
                is_name ? "" : plain_unit(printable(named[i].value<std::string>("unit", "")));
            axis.spacing = transform.scale[i];
            axis.origin = transform.translation[i];
        }
        made.each.push_back(std::move(axis));
    }
    return made;
}

/// The names of an array's axes where its own metadata say them: `dimension_names` of version 3,
/// and xarray's attribute in version 2. Those that are null are empty.
std::vector<std::string> own_names(const Json* list) {
    std::vector<std::string> names;
    static const Json none;
    for (const Json& each : (list == nullptr ? none : *list).values()) {
        names.push_back(each.is_string() ? printable(each.get<std::string>()) : "");
    }
    return names;
}

/// Axes whose scale is no distance, as a negative one: fitting_axes() leaves it out.
void note_scales(const Axes& axes, const std::string& where, DatasetInfo& info) {
    std::string said;
    for (const Axis& axis : axes.each) {
        if (axis.spacing && !(std::isfinite(*axis.spacing) && *axis.spacing > 0)) {
            said += fmt::format("{}{} of {}", said.empty() ? "" : ", ", *axis.spacing,
                                axis.name.empty() ? "?" : axis.name);
        }
    }
    if (!said.empty()) {
        info.notes.push_back(
            format_error({"a scale of the image is not above 0", where, "it is " + said,
                          "It is left out; write the spacing as input.spacing"}));
    }
}

/// Adds a note where the array's own metadata name axes otherwise than its image.
void note_other_names(std::string_view metadata, const Json& image, const std::string& where,
                      DatasetInfo& info) {
    std::vector<std::string> names;
    try {
        names = own_names(Json::parse(metadata).find("dimension_names"));
    } catch (const JsonError&) {
        return; // they are no list
    }
    const std::vector<Json>& said = image.at("axes").values();
    bool is_other = false;
    std::string listed;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto is_name = [&](const Json& axis) {
            return names[i] == printable(axis.is_string() ? axis.get<std::string>()
                                                          : axis.value<std::string>("name", ""));
        };
        is_other = is_other || (names.size() == info.axes.each.size() && !names[i].empty() &&
                                names[i] != info.axes.each[i].name && !is_name(said.at(i)));
        listed += (i == 0 ? "" : ", ") + (names[i].empty() ? "?" : names[i]);
    }
    if (is_other) {
        info.notes.push_back(format_error(
            {"the names of axes contradict one another", where,
             "its dimension_names are " + listed + ", and its image says " + info.axes.names(),
             "Those of the image are taken; input.axes of a job overrules them"}));
    }
}

/// Names the arrays beside this one that xarray has the coordinates of its axes in.
void note_coordinates(ZarrStore& store, const std::string& array,
                      const std::vector<std::string>& names, DatasetInfo& info) {
    const std::size_t end = array.rfind('/');
    const std::string group = end == std::string::npos ? "" : array.substr(0, end);
    std::string found;
    for (const std::string& name : names) {
        const std::string beside = joined(group, name);
        const bool is_array =
            !array.empty() && !name.empty() && beside != array &&
            name.find('/') == std::string::npos &&
            (store.text(joined(beside, zarr_json)) || store.text(joined(beside, zarray_json)));
        if (is_array) {
            found.append(found.empty() ? "" : ", ").append(name);
        }
    }
    if (!found.empty()) {
        info.unkept.push_back("the coordinates of axes, " + found);
    }
}

} // namespace

Json zarr_attributes(ZarrStore& store, const std::string& name) {
    const auto parsed = [&](const std::string& file) {
        const std::optional<std::string> text = store.text(joined(name, file));
        try {
            return text ? std::optional(Json::parse(*text)) : std::nullopt;
        } catch (const JsonError& error) {
            throw Error(ExitCode::input,
                        {"cannot read the Zarr store", store.folder() + "/" + joined(name, file),
                         error.what(), "Get it again from where it was made"});
        }
    };
    if (std::optional<Json> node = parsed(zarr_json)) {
        return node->find("attributes") == nullptr ? Json::object()
                                                   : std::move((*node)["attributes"]);
    }
    std::optional<Json> attributes = parsed(zattrs_json);
    return attributes ? *std::move(attributes) : Json::object();
}

std::optional<FirstLevel> first_level(ZarrStore& store, const std::string& group) {
    const Json attributes = zarr_attributes(store, group);
    const Json* const ome = attributes.find("ome");
    if ((ome == nullptr ? attributes : *ome).find("multiscales") == nullptr) {
        return std::nullopt;
    }
    try {
        FirstLevel level;
        level.axes = check_first_image(attributes);
        const Json& first = images_of(attributes).front().at("datasets").at(0);
        level.name = joined(group, trimmed(first.get<std::string>("path")));
        if (const std::size_t count = images_of(attributes).size(); count > 1) {
            level.note = format_error(
                {"one image of several is read", file_and_dataset(store.folder(), "/" + group),
                 fmt::format("its group has {} (multiscales), and the first is taken", count),
                 "runner inspect lists the arrays of the others; name one as input.dataset"});
        }
        return level;
    } catch (const JsonError& error) {
        refuse_zarr(file_and_dataset(store.folder(), group),
                    std::string("its multiscales cannot be right: ") + error.what(),
                    mend_image(store));
    }
}

std::string mend_image(const ZarrStore& store) {
    return "Get it again from where it was made; or read an array alone, without what is said of "
           "it, as " +
           store.folder() + ":/0: runner inspect " + shell_word(store.folder()) + " lists them";
}

void describe_names(ZarrStore& store, const std::string& array, std::string_view metadata,
                    DatasetInfo& info) {
    std::vector<std::string> names;
    try {
        const Json node = Json::parse(metadata);
        names = own_names(node.find("dimension_names"));
        if (names.empty()) {
            names = own_names(zarr_attributes(store, array).find("_ARRAY_DIMENSIONS"));
        }
    } catch (const JsonError&) {
        return; // they are no list
    }
    const bool is_named = std::any_of(names.begin(), names.end(),
                                      [](const std::string& name) { return !name.empty(); });
    if (!is_named || names.size() != info.array.shape.size()) {
        return;
    }
    note_coordinates(store, array, names, info);
    for (std::string& name : names) {
        info.axes.each.push_back({std::move(name)});
    }
    const std::string& last = info.axes.each.back().name;
    const std::int64_t extent = info.array.shape.back();
    if (last == "s" && (extent == 3 || extent == 4)) {
        info.channels = static_cast<int>(extent);
    } else if (!last.empty() && last != "c" && last != "s") {
        info.channels = 1;
    }
    info.axes = fitting_axes(std::move(info.axes), info.array.shape);
}

void describe_level(ZarrStore& store, const std::string& array, std::string_view metadata,
                    DatasetInfo& info) {
    for (std::size_t end = array.rfind('/'); !array.empty();
         end = end == 0 || end == std::string::npos ? end : array.rfind('/', end - 1)) {
        const std::string group = end == std::string::npos ? "" : array.substr(0, end);
        const std::string path = group.empty() ? array : array.substr(end + 1);
        try {
            const Json attributes = zarr_attributes(store, group);
            for (const Json& image : images_of(attributes)) {
                for (const Json& level : image.at("datasets").values()) {
                    if (trimmed(level.get<std::string>("path")) == path) {
                        const std::string where = file_and_dataset(store.folder(), "/" + array);
                        info.axes = axes_of(image, level, info.array.shape);
                        note_scales(info.axes, where, info);
                        describe_image(attributes, image, where, info);
                        if (info.axes.each.back().name != "c") {
                            info.channels = 1; // the last axis is one of space
                        }
                        info.axes = fitting_axes(std::move(info.axes), info.array.shape);
                        note_other_names(metadata, image, where, info);
                        return;
                    }
                }
            }
        } catch (const JsonError& error) {
            info.notes.push_back(
                format_error({"the description of the image says nothing",
                              file_and_dataset(store.folder(), group),
                              std::string("its multiscales do not fit the array: ") + error.what(),
                              "Its scales and units are left out"}));
            return;
        }
        if (group.empty()) {
            return;
        }
    }
}

void list_unkept(ZarrStore& store, const std::string& array, DatasetInfo& info) {
    constexpr std::size_t most_names = 8;
    std::vector<std::string> names;
    try {
        names = zarr_attributes(store, array).names();
    } catch (const JsonError&) {
        return; // they say nothing
    }
    // An output has the first of the marks of invalid elements, and others that say the same.
    const std::string first = info.invalid.empty() ? "" : info.invalid.front();
    const std::string number = first.substr(std::min(first.find(" = "), first.size()));
    std::erase_if(names, [&](const std::string& name) {
        return name == "_ARRAY_DIMENSIONS" || // names of axes
               std::find(info.invalid.begin(), info.invalid.end(), name + number) !=
                   info.invalid.end();
    });
    for (const char* name : {"scale_factor", "add_offset"}) {
        if (std::erase(names, name) > 0) {
            info.unkept.push_back(std::string(name) +
                                  ": the elements were taken as they are stored");
        }
    }
    if (names.empty()) {
        return;
    }
    std::string text = "the attributes ";
    for (std::size_t i = 0; i < std::min(names.size(), most_names); ++i) {
        text += (i == 0 ? "" : ", ") + printable(names[i]);
    }
    info.unkept.push_back(text + (names.size() > most_names ? " and others" : ""));
}

} // namespace runner
