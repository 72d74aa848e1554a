// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/ome_images.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "io/rows/axes.hpp"
#include "io/rows/rows.hpp"
#include "io/zarr/zarr_array.hpp"
#include "io/zarr/zarr_scales.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace runner {
namespace {

constexpr std::size_t most_images = 10'000;

/// What OME-Zarr says of a group: of 0.4 its attributes, of 0.5 a member of them.
Json ome_of(ZarrStore& store, const std::string& group) {
    Json attributes = zarr_attributes(store, group);
    return attributes.find("ome") == nullptr ? std::move(attributes) : std::move(attributes["ome"]);
}

/// Adds the paths that a list names, each the member `path` of an object.
void add_paths(const Json& list, const std::string& group, std::vector<std::string>& names) {
    for (const Json& each : list.values()) {
        if (names.size() < most_images) {
            names.push_back(within(group, each.get<std::string>("path")));
        }
    }
}

std::vector<std::string> images_of_plate(ZarrStore& store, const std::string& group,
                                         const Json& plate) {
    std::vector<std::string> wells;
    add_paths(plate.at("wells"), group, wells);
    std::vector<std::string> images;
    for (const std::string& well : wells) {
        const Json ome = ome_of(store, well);
        if (const Json* const found = ome.find("well")) {
            add_paths(found->at("images"), well, images);
        }
    }
    return images;
}

/// The images of a container of bioformats2raw: those that the group OME lists, or all groups that
/// numbers name.
std::vector<std::string> images_of_layout(ZarrStore& store, const std::string& group) {
    std::vector<std::string> images;
    const Json ome = ome_of(store, within(group, "OME"));
    if (const Json* const series = ome.find("series")) {
        for (const Json& each : series->values()) {
            images.push_back(within(group, each.get<std::string>()));
        }
        return images;
    }
    for (std::size_t i = 0; i < most_images; ++i) {
        const std::string name = within(group, std::to_string(i));
        if (!store.has_folder(name)) {
            break;
        }
        images.push_back(name);
    }
    return images;
}

/// What OME-Zarr says in the attributes of a group.
const Json& ome_in(const Json& attributes) {
    const Json* const ome = attributes.find("ome");
    return ome == nullptr ? attributes : *ome;
}

/// Six hexadecimal digits, as they are written here; empty for others.
std::string colour_of(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
        return static_cast<char>(c >= 'a' && c <= 'f' ? c - 'a' + 'A' : c);
    });
    const bool is_colour =
        text.size() == 6 && text.find_first_not_of("0123456789ABCDEF") == std::string::npos;
    return is_colour ? text : "";
}

/// What `omero` says of each channel under a name; empty texts where it says nothing.
std::vector<std::string> of_channels(const Json& attributes, const char* key) {
    const Json* const omero = ome_in(attributes).find("omero");
    const Json* const channels = omero == nullptr ? nullptr : omero->find("channels");
    if (channels == nullptr) {
        return {};
    }
    std::vector<std::string> texts;
    for (const Json& each : channels->values()) {
        const Json* const found = each.find(key);
        texts.push_back(
            found != nullptr && found->is_string() ? printable(found->get<std::string>()) : "");
    }
    return texts;
}

/// "a, b and others", of at most so many.
std::string listed_names(const std::vector<std::string>& names) {
    constexpr std::size_t most = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
        text += (i == 0 ? "" : ", ") + names[i];
    }
    return names.size() <= most ? text : text + " and others";
}

/// Adds the names and colours of channels. Of another number of channels they are none's.
void describe_channels(const Json& attributes, const std::string& where, DatasetInfo& info) {
    Axes& axes = info.axes;
    axes.channels = of_channels(attributes, "label");
    axes.colours = of_channels(attributes, "color");
    const std::optional<std::size_t> along = axes.find("c");
    const auto channels = static_cast<std::size_t>(along ? info.array.shape[*along] : 1);
    if (axes.channels.size() != channels && (says_any(axes.channels) || says_any(axes.colours))) {
        info.notes.push_back(format_error(
            {"the channels that omero has are not those of the array", where,
             fmt::format("they are {}, and the array has {}", axes.channels.size(), channels),
             "Their names and colours are left out"}));
        axes.channels.clear();
        axes.colours.clear();
    }
    std::vector<std::string> others;
    for (std::string& colour : axes.colours) {
        if (!colour.empty() && colour_of(colour).empty()) {
            others.push_back(colour);
        }
        colour = colour_of(colour);
    }
    if (!others.empty()) {
        info.notes.push_back(
            format_error({"a colour of a channel is none", where,
                          "it is " + listed_names(others) + ", not six hexadecimal digits",
                          "It is left out; write it as FF00AA in omero"}));
    }
}

/// Rules of versions that are to come are not known.
void note_version(const Json& attributes, const Json& image, const std::string& where,
                  DatasetInfo& info) {
    static constexpr std::array<std::string_view, 5> known = {"0.1", "0.2", "0.3", "0.4", "0.5"};
    const bool is_in_ome = attributes.find("ome") != nullptr;
    const Json* const version = (is_in_ome ? ome_in(attributes) : image).find("version");
    if (version == nullptr) {
        return;
    }
    const std::string said = version->is_string() ? version->get<std::string>() : version->text();
    if (std::find(known.begin(), known.end(), said) == known.end()) {
        info.notes.push_back(
            format_error({"the version of the image is not known here", where,
                          "its group says OME-Zarr " + printable(said),
                          std::string("It is read as ") + (is_in_ome ? "0.5" : "0.4") +
                              ": compare names, scales and units of the axes"}));
    }
}

/// The elements of an image of labels are the numbers of objects.
void note_labels(const Json& attributes, const std::string& where, DatasetInfo& info) {
    if (ome_in(attributes).find("image-label") != nullptr) {
        info.notes.push_back(format_error(
            {"the elements are labels", where,
             "its group says so (image-label), and an output does not",
             "They are taken as numbers, and a mean of labels is none of them; coarser levels have "
             "labels by output.downsample = \"mode\""}));
    }
}

/// Adds the names of the members of an object that are not in a list, each behind `of`.
void add_others(const Json& object, std::span<const std::string_view> known, const std::string& of,
                std::vector<std::string>& names) {
    for (const std::string& name : object.names()) {
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            names.push_back(of + printable(name));
        }
    }
}

/// Adds what a group says and no output has, by its names. The output has levels of its own, so
/// how these were made (`type`) is no loss.
void list_unkept_of_group(const Json& attributes, const Json& image, DatasetInfo& info) {
    static constexpr std::array<std::string_view, 5> of_image = {
        "axes", "coordinateTransformations", "datasets", "type", "version"};
    static constexpr std::array<std::string_view, 6> of_group = {
        "image-label", "labels", "multiscales", "ome", "omero", "version"};
    std::vector<std::string> names;
    add_others(image, of_image, "multiscales.", names);
    if (attributes.find("ome") != nullptr) {
        add_others(ome_in(attributes), of_group, "", names);
    }
    add_others(attributes, of_group, "", names);
    if (!names.empty()) {
        info.unkept.push_back("the attributes of its group " + listed_names(names));
    }
}

} // namespace

void describe_image(const Json& attributes, const Json& image, const std::string& where,
                    DatasetInfo& info) {
    note_version(attributes, image, where, info);
    note_labels(attributes, where, info);
    describe_channels(attributes, where, info);
    list_unkept_of_group(attributes, image, info);
}

ImageContainer images_within(ZarrStore& store, const std::string& group) {
    try {
        const Json ome = ome_of(store, group);
        if (const Json* const plate = ome.find("plate")) {
            return {"a plate", images_of_plate(store, group, *plate)};
        }
        if (const Json* const well = ome.find("well")) {
            ImageContainer of_well{"a well of a plate", {}};
            add_paths(well->at("images"), group, of_well.images);
            return of_well;
        }
        if (ome.find("bioformats2raw.layout") != nullptr) {
            return {"a container of images", images_of_layout(store, group)};
        }
    } catch (const JsonError& error) {
        refuse_zarr(file_and_dataset(store.folder(), group),
                    std::string("what it says of its images cannot be right: ") + error.what());
    }
    return {};
}

} // namespace runner
