// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/ome_images.hpp"

#include "base/json.hpp"
#include "io/rows/rows.hpp"
#include "io/zarr/zarr_array.hpp"
#include "io/zarr/zarr_scales.hpp"

#include <algorithm>
#include <cstddef>

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

} // namespace

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
