// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/array_text.hpp"

#include "base/json.hpp"
#include "io/filters/packer.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/file_elements.hpp"
#include "io/zarr/zarr_writer.hpp"

#include <cstdint>
#include <utility>

namespace runner {
namespace {

const char* blosc_name(const OutputLayout& layout) {
    return layout.compression == Compression::blosc_lz4 ? "lz4" : "zstd";
}

Json little_endian_bytes() {
    return {{"name", "bytes"}, {"configuration", Json{{"endian", "little"}}}};
}

/// The codecs of a chunk.
Json chunk_codecs(const OutputDataset& output) {
    const OutputLayout& layout = output.layout;
    Json codecs = Json::array();
    codecs.push_back(little_endian_bytes());
    switch (layout.compression) {
    case Compression::zstd:
        codecs.push_back({{"name", "zstd"},
                          {"configuration", Json{{"level", layout.level}, {"checksum", false}}}});
        break;
    case Compression::gzip:
        codecs.push_back({{"name", "gzip"}, {"configuration", Json{{"level", layout.level}}}});
        break;
    case Compression::blosc_lz4:
    case Compression::blosc_zstd:
        codecs.push_back(
            {{"name", "blosc"},
             {"configuration", Json{{"cname", blosc_name(layout)},
                                    {"clevel", layout.level},
                                    {"shuffle", layout.shuffle ? "shuffle" : "noshuffle"},
                                    {"typesize", size_of(output.array.type)},
                                    {"blocksize", static_cast<std::int64_t>(blosc_block_bytes)}}}});
        break;
    default: break;
    }
    return codecs;
}

Json array_codecs(const OutputDataset& output) {
    if (!is_in_shards(output)) {
        return chunk_codecs(output);
    }
    Json index = Json::array();
    index.push_back(little_endian_bytes());
    index.push_back({{"name", "crc32c"}});
    Json codecs = Json::array();
    codecs.push_back(
        {{"name", "sharding_indexed"},
         {"configuration", Json{{"chunk_shape", ChunkGrid(output.array, output.layout).chunk()},
                                {"codecs", chunk_codecs(output)},
                                {"index_codecs", std::move(index)},
                                {"index_location", "end"}}}});
    return codecs;
}

std::string data_type_of(const ArrayInfo& array) {
    return is_float16(array) ? float16_text : std::string(name_of(array.type));
}

/// The compressor of version 2; null for none.
Json compressor_of(const OutputDataset& output) {
    const OutputLayout& layout = output.layout;
    switch (layout.compression) {
    case Compression::zstd: return {{"id", "zstd"}, {"level", layout.level}};
    case Compression::gzip: return {{"id", "gzip"}, {"level", layout.level}};
    case Compression::blosc_lz4:
    case Compression::blosc_zstd:
        return {{"id", "blosc"},
                {"cname", blosc_name(layout)},
                {"clevel", layout.level},
                {"shuffle", layout.shuffle ? 1 : 0},
                {"blocksize", static_cast<std::int64_t>(blosc_block_bytes)}};
    default: return {};
    }
}

/// The type as numpy writes it: "<u2".
std::string numpy_type_of(const ArrayInfo& array) {
    const std::int64_t bytes = size_of(array.type);
    const char kind = is_float16(array) ? 'f' : name_of(array.type).front();
    return (bytes == 1 ? "|" : "<") + std::string(1, kind) + std::to_string(bytes);
}

} // namespace

bool is_in_shards(const OutputDataset& output) {
    return zarr_shard(output.array, output.layout) !=
           ChunkGrid(output.array, output.layout).chunk();
}

std::string array_text(const OutputDataset& output, const std::vector<std::string>& names) {
    Json json{
        {"zarr_format", 3},
        {"node_type", "array"},
        {"shape", output.array.shape},
        {"data_type", data_type_of(output.array)},
        {"chunk_grid",
         Json{{"name", "regular"},
              {"configuration", Json{{"chunk_shape", zarr_shard(output.array, output.layout)}}}}},
        {"chunk_key_encoding",
         Json{{"name", "default"}, {"configuration", Json{{"separator", "/"}}}}},
        {"fill_value", 0},
        {"codecs", array_codecs(output)},
        {"attributes", Json::object()}};
    if (!names.empty()) {
        Json list = Json::array();
        for (const std::string& name : names) {
            list.push_back(name.empty() ? Json() : Json(name));
        }
        json["dimension_names"] = std::move(list);
    }
    return json.lines(2, 80) + "\n";
}

std::string zarray_text(const OutputDataset& output) {
    const Json json{{"zarr_format", 2},
                    {"shape", output.array.shape},
                    {"chunks", ChunkGrid(output.array, output.layout).chunk()},
                    {"dtype", numpy_type_of(output.array)},
                    {"compressor", compressor_of(output)},
                    {"fill_value", 0},
                    {"order", "C"},
                    {"filters", Json()},
                    {"dimension_separator", "/"}};
    return json.lines(2, 80) + "\n";
}

} // namespace runner
