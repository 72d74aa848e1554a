// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/zarr_array.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "io/zarr/zarr_codecs.hpp"
#include "io/zarr/zarr_elements.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace runner {
namespace {

constexpr std::size_t most_axes = 32; // as HDF5 has

/// A part of the metadata as a text for messages, cut where it is long.
std::string brief(const Json& json) {
    constexpr std::size_t most = 60;
    // A text of JSON has null for NaN and the infinities.
    const std::string text = json.is_number() && !std::isfinite(json.get<double>())
                                 ? fmt::format("{}", json.get<double>())
                                 : json.text();
    return printable(text.size() <= most ? text : text.substr(0, most) + "...");
}

void check_shape(const ZarrArray& array, const std::string& where) {
    const ArrayInfo& info = array.info.array;
    if (info.shape.empty()) {
        refuse_zarr(where, "it has no axes: it is one number", "Name an array of one axis or more");
    }
    if (info.shape.size() > most_axes) {
        refuse_zarr(where, fmt::format("it has {} axes, and at most {} are read", info.shape.size(),
                                       most_axes));
    }
    if (std::find(info.shape.begin(), info.shape.end(), 0) != info.shape.end()) {
        refuse_zarr(where, "its shape " + shape_text(info.shape) + " has an axis of extent 0",
                    "Name an array with elements");
    }
    std::int64_t bytes = size_of(info.type);
    for (const std::int64_t extent : info.shape) {
        if (__builtin_mul_overflow(bytes, extent, &bytes)) {
            refuse_zarr(where, "its shape is " + shape_text(info.shape) +
                                   ", and its bytes are more than 2^63 - 1");
        }
    }
}

/// Chunks are unpacked whole.
void check_chunk_bytes(const std::vector<std::int64_t>& chunk, ElementType type,
                       const std::string& where) {
    constexpr std::int64_t most = (std::int64_t{1} << 32) - 1;
    std::int64_t bytes = size_of(type);
    for (const std::int64_t extent : chunk) {
        if (extent > most / bytes) {
            refuse_zarr(where, "a chunk of " + shape_text(chunk) + " has 4 GiB or more",
                        "Store it again in smaller chunks, or in shards of them");
        }
        bytes *= extent;
    }
}

void set_elements(ZarrArray& array, const std::optional<ZarrElements>& elements,
                  const std::string& what, const Json& name, const std::string& where) {
    if (!elements) {
        refuse_zarr(where, "its " + what + " " + brief(name) + " is not read here",
                    "Supported are " + zarr_element_names() + ": store it again as one of them");
    }
    std::vector<std::int64_t> shape = std::move(array.info.array.shape);
    array.info.array = elements->array;
    array.info.array.shape = std::move(shape);
    array.info.big_endian = elements->big_endian;
}

void set_fill(ZarrArray& array, const ZarrElements& elements, const Json& value,
              const std::string& where) {
    std::optional<std::vector<std::byte>> fill = zarr_fill(value, elements);
    if (!fill) {
        refuse_zarr(where, "its fill_value " + brief(value) + " is no " +
                               (elements.is_boolean ? "bool" : type_text(array.info.array)));
    }
    array.fill = *std::move(fill);
}

std::string text_of(const Json& json) {
    return json.is_string() ? json.get<std::string>() : std::string();
}

/// The one of "." and "/" that is given.
char separator_of(const Json* json, char usual, const std::string& where) {
    const std::string text = json == nullptr ? std::string(1, usual) : text_of(*json);
    if (text != "." && text != "/") {
        refuse_zarr(where, "the separator of its chunks' keys is " + brief(*json) +
                               ", and must be \".\" or \"/\"");
    }
    return text.front();
}

void check_version(const Json& json, std::int64_t version, const std::string& where) {
    const Json* const found = json.find("zarr_format");
    if (found == nullptr || !found->is_number() ||
        found->get<double>() != static_cast<double>(version)) {
        refuse_zarr(where, fmt::format("its zarr_format is {}, where {} must be",
                                       found == nullptr ? "missing" : brief(*found), version));
    }
}

ZarrArray array_of_version2(const Json& json, const std::string& where) {
    check_version(json, 2, where);
    ZarrArray array;
    array.info.storage = "Zarr v2";
    const Json& shape = json.at("shape");
    array.info.array.shape = zarr_extents(shape, shape.values().size(), 0, "its shape", where);
    const std::optional<ZarrElements> elements = elements_of_dtype(text_of(json.at("dtype")));
    set_elements(array, elements, "dtype", json.at("dtype"), where);
    check_shape(array, where);
    array.info.chunk =
        zarr_extents(json.at("chunks"), shape.values().size(), 1, "its chunks", where);
    check_chunk_bytes(array.info.chunk, array.info.array.type, where);
    array.file_chunk = array.info.chunk;
    const Json* const fill = json.find("fill_value");
    array.fill.resize(static_cast<std::size_t>(size_of(array.info.array.type)));
    if (fill != nullptr && !fill->is_null()) {
        set_fill(array, *elements, *fill, where);
    }
    array.separator = separator_of(json.find("dimension_separator"), '.', where);
    add_compressor(array, json, where);
    return array;
}

/// The configuration of an extension point.
const Json& configuration_of(const Json& json, const std::string& key) {
    static const Json none = Json::object();
    const Json* const found = zarr_configuration(json.at(key), key);
    return found == nullptr ? none : *found;
}

std::string extension_name(const Json& json) {
    return json.is_object() ? json.get<std::string>("name") : text_of(json);
}

bool may_be_ignored(const Json& member) {
    const Json* const must = member.find("must_understand");
    return must != nullptr && must->text() == "false";
}

/// Refuses what changes the meaning of an array in a way that is not read here.
void check_members(const Json& json, const std::string& where) {
    std::vector<const Json*> known;
    for (const char* name :
         {"zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding",
          "fill_value", "codecs", "attributes", "dimension_names", "storage_transformers"}) {
        known.push_back(json.find(name));
    }
    for (const Json& member : json.values()) {
        if (std::find(known.begin(), known.end(), &member) == known.end() &&
            !may_be_ignored(member)) {
            refuse_zarr(where,
                        "it has a member that is not of the specification's core: " + brief(member),
                        "Store it again without that extension");
        }
    }
    if (const Json* const transformers = json.find("storage_transformers");
        transformers != nullptr && !transformers->is_null() &&
        !(transformers->is_array() && transformers->values().empty())) {
        refuse_zarr(where,
                    "its storage_transformers " + brief(*transformers) + " are not read here",
                    "Store it again without them");
    }
    if (extension_name(json.at("chunk_grid")) != "regular") {
        refuse_zarr(where,
                    "its chunk_grid \"" + printable(extension_name(json.at("chunk_grid"))) +
                        "\" is not read here",
                    "Store it again with a regular one");
    }
}

void set_keys(ZarrArray& array, const Json& json, const std::string& where) {
    const std::string name = extension_name(json.at("chunk_key_encoding"));
    if (name != "default" && name != "v2") {
        refuse_zarr(where, "its chunk_key_encoding \"" + printable(name) + "\" is not read here",
                    "Store it again with default or v2");
    }
    array.key_prefix = name == "default" ? "c" : "";
    array.separator = separator_of(configuration_of(json, "chunk_key_encoding").find("separator"),
                                   name == "default" ? '/' : '.', where);
}

ZarrArray array_of_version3(const Json& json, const std::string& where) {
    check_version(json, 3, where);
    if (json.value<std::string>("node_type", "") != "array") {
        refuse_zarr(where, "its node_type is not array", "Name an array");
    }
    check_members(json, where);
    ZarrArray array;
    const Json& shape = json.at("shape");
    array.info.array.shape = zarr_extents(shape, shape.values().size(), 0, "its shape", where);
    const std::optional<ZarrElements> elements =
        elements_of_data_type(extension_name(json.at("data_type")));
    set_elements(array, elements, "data_type", json.at("data_type"), where);
    check_shape(array, where);
    array.file_chunk = zarr_extents(configuration_of(json, "chunk_grid").at("chunk_shape"),
                                    shape.values().size(), 1, "its chunk_shape", where);
    set_fill(array, *elements, json.at("fill_value"), where);
    set_keys(array, json, where);
    add_codecs(array, json.at("codecs"), where);
    check_chunk_bytes(array.info.chunk, array.info.array.type, where);
    array.info.storage =
        array.shards.empty() ? "Zarr v3" : "Zarr v3, shards of " + shape_text(array.file_chunk);
    return array;
}

template <class Read>
ZarrArray read_array(std::string_view text, const std::string& where, const Read& read) {
    try {
        return read(Json::parse(text), where);
    } catch (const JsonError& error) {
        refuse_zarr(where, std::string("its metadata cannot be right: ") + error.what());
    }
}

} // namespace

ZarrArray parse_zarray(std::string_view text, const std::string& where) {
    return read_array(text, where, array_of_version2);
}

ZarrArray parse_zarr_json(std::string_view text, const std::string& where) {
    return read_array(text, where, array_of_version3);
}

void refuse_zarr(const std::string& where, const std::string& why, const std::string& try_this) {
    throw Error(ExitCode::input, {"cannot read the Zarr array", where, why, try_this});
}

} // namespace runner
