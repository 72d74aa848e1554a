// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/zarr_file.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "io/zarr/ome_images.hpp"
#include "io/zarr/zarr_array.hpp"
#include "io/zarr/zarr_chunks.hpp"
#include "io/zarr/zarr_invalid.hpp"
#include "io/zarr/zarr_scales.hpp"
#include "io/zarr/zarr_store.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace runner {
namespace {

constexpr const char* root_array = "data"; ///< what an array is called that is the store itself
constexpr std::array metadata_files = {zarr_json, zarray_json, zgroup_json, zattrs_json};

/// A node of a store.
struct Node {
    enum class Is { nothing, group, array_of_version2, array_of_version3 } is = Is::nothing;
    std::string text; ///< of an array: its metadata

    bool is_array() const { return is == Is::array_of_version2 || is == Is::array_of_version3; }
};

bool says_array(const std::string& text, const std::string& where) {
    try {
        const Json json = Json::parse(text);
        return json.value<std::string>("node_type", "") == "array";
    } catch (const JsonError& error) {
        refuse_zarr(where, error.what());
    }
}

Node node_of(ZarrStore& store, const std::string& name) {
    if (auto text = store.text(within(name, zarr_json))) {
        return says_array(*text, store.folder() + "/" + within(name, zarr_json))
                   ? Node{Node::Is::array_of_version3, *std::move(text)}
                   : Node{Node::Is::group, {}};
    }
    if (auto text = store.text(within(name, zarray_json))) {
        return {Node::Is::array_of_version2, *std::move(text)};
    }
    return {store.has_folder(name.empty() ? "." : name) ? Node::Is::group : Node::Is::nothing, {}};
}

/// Adds every array at and below a node. Links are not followed, so there is no way in a circle.
void add_arrays(ZarrStore& store, const std::string& name, std::vector<std::string>& arrays) {
    constexpr std::size_t most = 10'000;
    if (arrays.size() >= most) {
        return;
    }
    if (node_of(store, name).is_array()) {
        arrays.push_back("/" + (name.empty() ? root_array : name));
        return;
    }
    for (const std::string& entry : store.names(name.empty() ? "." : name)) {
        if (store.has_own_folder(within(name, entry))) {
            add_arrays(store, within(name, entry), arrays);
        }
    }
}

std::string listed(const std::vector<std::string>& arrays) {
    constexpr std::size_t most = 20;
    std::string text;
    for (std::size_t i = 0; i < std::min(arrays.size(), most); ++i) {
        text += (i == 0 ? "" : ", ") + printable(arrays[i]);
    }
    return arrays.size() <= most ? text
                                 : text + " and " + std::to_string(arrays.size() - most) + " more";
}

/// An array by its name in the store.
struct FoundArray {
    std::string name;
    Node node;
    std::optional<std::size_t> axes; ///< of the image that it was found as
    std::string note = {};           ///< of the images beside that
};

FoundArray only_array(ZarrStore& store, const std::string& group) {
    std::vector<std::string> arrays;
    add_arrays(store, group, arrays);
    if (arrays.size() != 1) {
        refuse_zarr(file_and_dataset(store.folder(), group),
                    arrays.empty() ? "there is no array"
                                   : "it is a group of several arrays: " + listed(arrays),
                    arrays.empty()
                        ? "Name the folder of a Zarr store"
                        : "Name one of them, as " + store.folder() + ":" + arrays.front());
    }
    const std::string name = arrays.front().substr(1);
    return {name, node_of(store, name), std::nullopt};
}

/// Level 0 of the only image of a plate or another container. Nothing where the group is none.
std::optional<FirstLevel> level_of_container(ZarrStore& store, const std::string& group) {
    ImageContainer found = images_within(store, group);
    if (found.images.empty()) {
        return std::nullopt;
    }
    if (found.images.size() == 1) {
        return first_level(store, found.images.front());
    }
    for (std::string& image : found.images) {
        image.insert(0, "/");
    }
    refuse_zarr(file_and_dataset(store.folder(), group),
                "it is " + found.what + ", with " + std::to_string(found.images.size()) +
                    " images: " + listed(found.images),
                "Name one of them, as " + store.folder() + ":" + printable(found.images.front()));
}

FoundArray find_array(ZarrStore& store, const std::string& dataset) {
    std::string name = dataset.substr(std::min(dataset.find_first_not_of('/'), dataset.size()));
    name.resize(name.find_last_not_of('/') + 1); // npos + 1 is 0
    Node node = node_of(store, name);
    if (node.is == Node::Is::nothing && name == root_array) {
        name.clear();
        node = node_of(store, name);
        if (!node.is_array()) {
            node = {};
        }
    }
    if (node.is == Node::Is::nothing) {
        std::vector<std::string> arrays;
        add_arrays(store, "", arrays);
        refuse_zarr(file_and_dataset(store.folder(), dataset), "there is no array of this name",
                    arrays.empty() ? "See what there is: ls " + store.folder()
                                   : "Name one of " + listed(arrays));
    }
    if (node.is_array()) {
        return {name, std::move(node), std::nullopt};
    }
    std::optional<FirstLevel> level = first_level(store, name);
    if (!level) {
        level = level_of_container(store, name);
    }
    if (!level) {
        return only_array(store, name);
    }
    node = node_of(store, level->name);
    if (!node.is_array()) {
        refuse_zarr(file_and_dataset(store.folder(), level->name),
                    "the multiscales of its group name it, and there is no array");
    }
    return {level->name, std::move(node), level->axes, std::move(level->note)};
}

} // namespace

StoredRows survey_zarr(const SurveyedDataset& what) {
    ZarrStore store(what.file, what.rules);
    const auto [name, node, axes, note] = find_array(store, what.dataset);
    StoredRows stored;
    stored.dataset = "/" + (name.empty() ? root_array : name);
    const std::string where = file_and_dataset(store.folder(), stored.dataset);
    ZarrArray array = node.is == Node::Is::array_of_version3 ? parse_zarr_json(node.text, where)
                                                             : parse_zarray(node.text, where);
    if (axes.value_or(array.info.array.shape.size()) != array.info.array.shape.size()) {
        refuse_zarr(where,
                    "its image has " + std::to_string(*axes) + " axes, and it has " +
                        std::to_string(array.info.array.shape.size()),
                    mend_image(store));
    }
    if (!note.empty()) {
        array.info.notes.push_back(note);
    }
    describe_level(store, name, node.text, array.info);
    if (array.info.axes.each.empty()) {
        describe_names(store, name, node.text, array.info);
    }
    describe_invalid(store, name, node.text, array.info);
    list_unkept(store, name, array.info);
    ZarrChunks chunks = list_zarr_chunks(store, name, array, where, what.rules.bad_chunks);
    stored.way = StoredRows::Way::chunks;
    stored.info = std::move(array.info);
    stored.info.stored_bytes = chunks.stored_bytes;
    stored.filters = std::move(array.filters);
    stored.fill = std::move(array.fill);
    stored.chunks = std::move(chunks.places);
    stored.chunk_files = std::move(chunks.files);
    stored.members = std::move(chunks.members);
    stored.files = std::move(chunks.marks);
    stored.files.merge(store.take_marks());
    return stored;
}

bool is_zarr(const std::string& folder) {
    std::error_code failure;
    return std::any_of(metadata_files.begin(), metadata_files.end(), [&](const char* file) {
        return std::filesystem::exists(std::filesystem::path(folder) / file, failure);
    });
}

std::vector<std::string> zarr_arrays(const std::string& folder, const InputRules& rules) {
    ZarrStore store(folder, rules);
    std::vector<std::string> arrays;
    add_arrays(store, "", arrays);
    return arrays;
}

} // namespace runner
