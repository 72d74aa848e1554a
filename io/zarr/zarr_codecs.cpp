// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/zarr_codecs.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "io/filters/codec.hpp"
#include "io/filters/transpose.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace runner {
namespace {

/// More than one shard within another are not read.
constexpr std::size_t most_shards = 2;

[[noreturn]] void refuse_codec(const std::string& what, const std::string& name,
                               const std::string& where, const std::string& known) {
    refuse_zarr(where, fmt::format("its {} \"{}\" is not read here", what, printable(name)),
                "Store it again with one of " + known);
}

/// An entry of `codecs`: a name, or a name with a configuration.
struct CodecEntry {
    std::string name;
    const Json* configuration = nullptr;

    explicit CodecEntry(const Json& json)
        : name(json.is_string() ? json.get<std::string>() : json.get<std::string>("name")),
          configuration(zarr_configuration(json, name)) {}

    /// A member of the configuration; null where there is none.
    const Json* find(std::string_view key) const {
        return configuration == nullptr ? nullptr : configuration->find(key);
    }
};

/// The members of a list. @throws JsonError with its key where it is none.
const std::vector<Json>& listed(const Json& json, const char* key) {
    if (!json.is_array()) {
        throw JsonError(fmt::format("\"{}\" is {}, where a list must be", key, json.described()));
    }
    return json.values();
}

std::vector<unsigned> level_parameter(const Json* level) {
    constexpr std::int64_t highest = 22; // others have no text, and no part in unpacking
    const auto number = level == nullptr || !level->is_number() ? -1 : level->get<std::int64_t>();
    return number < 0 || number > highest ? std::vector<unsigned>()
                                          : std::vector<unsigned>{static_cast<unsigned>(number)};
}

/// Blosc's parameters as HDF5's filter has them, for people: a chunk says itself how it is packed.
Filter blosc_filter(const Json& configuration, const std::string& what, const std::string& where) {
    constexpr std::array codecs = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
    const auto name = configuration.value<std::string>("cname", "lz4");
    const auto* const found = std::find(codecs.begin(), codecs.end(), name);
    if (found == codecs.end() || name == "snappy") {
        refuse_codec(what, "blosc with " + name, where, "lz4, lz4hc, zlib, zstd and blosclz");
    }
    constexpr std::array sorts = {"noshuffle", "shuffle", "bitshuffle"};
    unsigned sort = 0;
    if (const Json* const shuffle = configuration.find("shuffle")) {
        const auto* const named = shuffle->is_string() ? std::find(sorts.begin(), sorts.end(),
                                                                   shuffle->get<std::string>())
                                                       : sorts.end();
        const bool numbered = shuffle->is_number() && shuffle->get<std::int64_t>() >= 0;
        sort = named != sorts.end() ? static_cast<unsigned>(named - sorts.begin())
               : numbered           ? static_cast<unsigned>(shuffle->get<std::int64_t>())
                                    : 0;
    }
    return {filter_id::whole_blosc,
            "",
            {2, 2, 0, 0, 0, sort, static_cast<unsigned>(found - codecs.begin())}};
}

bool is_identity(std::span<const std::int64_t> order) {
    return std::is_sorted(order.begin(), order.end());
}

/// The chain of codecs of one level.
class CodecChain {
  public:
    CodecChain(ZarrArray& array, const std::string& where) : array_(array), where_(where) {}

    /// `shape`: extents of what the codecs are given.
    void add(const Json& codecs, std::vector<std::int64_t> shape) {
        const std::vector<Json>& all = listed(codecs, "codecs");
        std::size_t next = 0;
        for (; next < all.size() && CodecEntry(all[next]).name == "transpose"; ++next) {
            add_transpose(CodecEntry(all[next]), shape);
        }
        if (next == all.size()) {
            refuse_zarr(where_, "its codecs lack one that makes bytes of elements");
        }
        const CodecEntry serializer(all[next]);
        if (serializer.name == "sharding_indexed") {
            if (!array_.filters.empty()) {
                refuse_codec("codec", "transpose before sharding_indexed", where_,
                             "transpose within the shards");
            }
            if (next + 1 < all.size()) {
                refuse_codec("codec", CodecEntry(all[next + 1]).name + " behind sharding_indexed",
                             where_, "codecs within the shards");
            }
            return add_shard(serializer, shape);
        }
        if (serializer.name != "bytes") {
            refuse_codec("codec", serializer.name, where_, known);
        }
        array_.info.big_endian = is_big_endian(serializer);
        array_.info.chunk = array_.shards.empty() ? array_.file_chunk : array_.shards.back().chunk;
        for (++next; next < all.size(); ++next) {
            add_packing(CodecEntry(all[next]));
        }
    }

  private:
    static constexpr const char* known =
        "bytes, transpose, sharding_indexed, blosc, gzip, zstd and crc32c";

    void add_transpose(const CodecEntry& codec, std::vector<std::int64_t>& shape) {
        const Json* const json = codec.find("order");
        if (json == nullptr) {
            refuse_zarr(where_, "its codec transpose has no order");
        }
        const std::vector<std::int64_t> order =
            zarr_extents(*json, shape.size(), 0, "the order of transpose", where_);
        std::vector<std::int64_t> axes(shape.size());
        std::iota(axes.begin(), axes.end(), std::int64_t{0});
        if (!std::is_permutation(order.begin(), order.end(), axes.begin())) {
            refuse_zarr(where_, "the order of its codec transpose is " + shape_text(order) +
                                    ", and must have each axis once");
        }
        std::vector<std::int64_t> stored(order.size());
        std::transform(order.begin(), order.end(), stored.begin(),
                       [&](std::int64_t axis) { return shape[static_cast<std::size_t>(axis)]; });
        if (!is_identity(order)) {
            array_.filters.push_back(
                {filter_id::transpose, "",
                 transpose_parameters(size_of(array_.info.array.type), order, shape)});
        }
        shape = std::move(stored);
    }

    void add_shard(const CodecEntry& codec, const std::vector<std::int64_t>& shape) {
        if (array_.shards.size() == most_shards) {
            refuse_codec("codec", "sharding_indexed within two others", where_,
                         "shards within shards at most");
        }
        if (codec.find("chunk_shape") == nullptr || codec.find("codecs") == nullptr) {
            refuse_zarr(where_, "its codec sharding_indexed lacks chunk_shape or codecs");
        }
        ZarrShard shard;
        shard.chunk = zarr_extents(*codec.find("chunk_shape"), shape.size(), 1,
                                   "the chunk_shape of sharding_indexed", where_);
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            if (shape[axis] % shard.chunk[axis] != 0) {
                refuse_zarr(where_, "its shards of " + shape_text(shape) +
                                        " do not have whole chunks of " + shape_text(shard.chunk));
            }
        }
        if (codec.find("index_location") != nullptr) {
            const auto name = codec.configuration->get<std::string>("index_location");
            if (name != "start" && name != "end") {
                refuse_zarr(where_, "the index_location of its shards is \"" + printable(name) +
                                        "\", and must be start or end");
            }
            shard.index = name == "start" ? ZarrShard::Index::first : ZarrShard::Index::last;
        }
        add_index_codecs(shard, codec.find("index_codecs"));
        array_.shards.push_back(std::move(shard));
        const Json& codecs = *codec.find("codecs");
        add(codecs, array_.shards.back().chunk);
    }

    void add_index_codecs(ZarrShard& shard, const Json* codecs) {
        if (codecs == nullptr || listed(*codecs, "index_codecs").empty()) {
            refuse_zarr(where_, "its codec sharding_indexed lacks index_codecs");
        }
        bool is_first = true;
        for (const Json& each : codecs->values()) {
            const CodecEntry codec(each);
            if (is_first && codec.name == "bytes") {
                shard.big_endian = is_big_endian(codec);
            } else if (!is_first && !shard.has_checksum && codec.name == "crc32c") {
                shard.has_checksum = true;
            } else {
                refuse_codec("codec of the index of shards", codec.name, where_,
                             "bytes, and crc32c behind it");
            }
            is_first = false;
        }
    }

    bool is_big_endian(const CodecEntry& codec) const {
        const std::string name = codec.find("endian") == nullptr
                                     ? "little"
                                     : codec.configuration->get<std::string>("endian");
        if (name != "little" && name != "big") {
            refuse_zarr(where_, "the endian of its codec bytes is \"" + printable(name) +
                                    "\", and must be little or big");
        }
        return name == "big";
    }

    void add_packing(const CodecEntry& codec) {
        static const Json nothing = Json::object();
        const Json& configuration = codec.configuration == nullptr ? nothing : *codec.configuration;
        if (codec.name == "blosc") {
            array_.filters.push_back(blosc_filter(configuration, "codec", where_));
        } else if (codec.name == "zstd") {
            array_.filters.push_back({filter_id::zstd, "", level_parameter(codec.find("level"))});
        } else if (codec.name == "gzip") {
            array_.filters.push_back({filter_id::gzip, "", {}});
        } else if (codec.name == "crc32c") {
            array_.filters.push_back({filter_id::crc32c, "", {}});
        } else {
            refuse_codec("codec", codec.name, where_, known);
        }
    }

    ZarrArray& array_;
    const std::string& where_;
};

/// How people name the filters.
void name_filters(ZarrArray& array) {
    for (const Filter& filter : array.filters) {
        array.info.filters.push_back(filter.id == filter_id::transpose ? "transpose"
                                                                       : filter_text(filter));
    }
}

} // namespace

const Json* zarr_configuration(const Json& json, const std::string& name) {
    const Json* const found = json.find("configuration");
    if (found != nullptr && !found->is_object()) {
        throw JsonError(fmt::format("\"configuration\" of \"{}\" is {}, where an object must be",
                                    printable(name), found->described()));
    }
    return found;
}

std::vector<std::int64_t> zarr_extents(const Json& json, std::size_t axes, std::int64_t least,
                                       const std::string& key, const std::string& where) {
    if (!json.is_array()) {
        refuse_zarr(
            where, fmt::format("{} is {}, where a list of numbers must be", key, json.described()));
    }
    if (json.values().size() != axes) {
        refuse_zarr(where, fmt::format("{} is no list of {} numbers, one an axis", key, axes));
    }
    std::vector<std::int64_t> extents;
    for (const Json& each : json.values()) {
        if (!each.is_number() || each.get<double>() != std::trunc(each.get<double>())) {
            refuse_zarr(where, fmt::format("{} has {}, which is no whole number", key,
                                           printable(each.described())));
        }
        extents.push_back(each.get<std::int64_t>());
        if (extents.back() < least) {
            refuse_zarr(where,
                        fmt::format("{} has {}, which is below {}", key, extents.back(), least));
        }
    }
    return extents;
}

void add_compressor(ZarrArray& array, const Json& zarray, const std::string& where) {
    constexpr const char* known = "blosc, zstd, gzip, zlib, bz2 and lz4";
    if (const Json* const filters = zarray.find("filters");
        filters != nullptr && !filters->is_null()) {
        for (const Json& filter : listed(*filters, "filters")) {
            refuse_zarr(where,
                        "its filter \"" + printable(filter.get<std::string>("id")) +
                            "\" is not read here",
                        "Store it again without filters");
        }
    }
    const auto order = zarray.get<std::string>("order");
    const std::vector<std::int64_t>& chunk = array.info.chunk;
    if (order == "F" && chunk.size() > 1) {
        std::vector<std::int64_t> axes(chunk.size());
        std::iota(axes.rbegin(), axes.rend(), std::int64_t{0});
        array.filters.push_back(
            {filter_id::transpose, "",
             transpose_parameters(size_of(array.info.array.type), axes, chunk)});
    } else if (order != "C" && order != "F") {
        refuse_zarr(where, "its order is \"" + printable(order) + "\", and must be C or F");
    }
    const Json& compressor = zarray.at("compressor");
    if (!compressor.is_object() && !compressor.is_null()) {
        throw JsonError("\"compressor\" is " + compressor.described() +
                        ", where an object or null must be");
    }
    if (compressor.is_object()) {
        constexpr std::array<std::pair<const char*, int>, 5> ids = {
            {{"zstd", filter_id::zstd},
             {"gzip", filter_id::gzip},
             {"zlib", filter_id::zlib},
             {"bz2", filter_id::bzip2_streams},
             {"lz4", filter_id::sized_lz4}}};
        const auto name = compressor.get<std::string>("id");
        const auto* const found = std::find_if(
            ids.begin(), ids.end(), [&](const auto& each) { return name == each.first; });
        if (name == "blosc") {
            array.filters.push_back(blosc_filter(compressor, "compressor", where));
        } else if (found == ids.end()) {
            refuse_codec("compressor", name, where, known);
        } else {
            array.filters.push_back({found->second, "", {}});
        }
    }
    name_filters(array);
}

void add_codecs(ZarrArray& array, const Json& codecs, const std::string& where) {
    CodecChain(array, where).add(codecs, array.file_chunk);
    name_filters(array);
}

} // namespace runner
