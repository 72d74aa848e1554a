// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/zarr_writer.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "io/filters/unpacker.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/file_elements.hpp"
#include "io/zarr/array_text.hpp"
#include "io/zarr/ome_group.hpp"
#include "io/zarr/zarr_array.hpp"
#include "io/zarr/zarr_chunks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace runner {
namespace {

using Extents = std::vector<std::int64_t>;

constexpr std::int64_t wanted_chunk_bytes = MiB;
constexpr std::int64_t wanted_shard_bytes = 256 * MiB;
constexpr std::int64_t most_waiting_bytes = 256 * MiB;  ///< of layers that a chunk has parts of
constexpr std::int64_t most_blosc_bytes = 2 * GiB - 17; // and a header, in a number of 31 bits

/// The name of a file of a level's elements, until they are packed.
constexpr const char* level_elements = "elements";

/// What a .zgroup holds.
constexpr const char* zgroup_text = "{\"zarr_format\": 2}\n";

/// The place of an array in the folder.
std::string prefix_of(const OutputDataset& output, ZarrFlavour flavour) {
    return flavour == ZarrFlavour::ome ? std::to_string(output.layout.pyramid.level) + "/" : "";
}

bool is_version2(const OutputDataset& output) { return output.layout.ngff == Ngff::v0_4; }

/// How many steps cover each axis.
Extents counts_along(const Extents& shape, const Extents& step) {
    Extents counts;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        counts.push_back(ceil_divide(shape[axis], step[axis]));
    }
    return counts;
}

/// The coordinates of number `index` in a box of these counts, the last axis fastest.
Extents coordinates(std::int64_t index, const Extents& counts) {
    Extents at(counts.size());
    for (std::size_t axis = counts.size(); axis-- > 0;) {
        at[axis] = index % counts[axis];
        index /= counts[axis];
    }
    return at;
}

/// Doubles an extent as long as the bytes are within the wanted ones and the axis is longer.
void grow(std::int64_t& extent, std::int64_t axis, std::int64_t most, std::int64_t& bytes) {
    while (extent < axis && extent < most && 2 * bytes <= wanted_chunk_bytes) {
        extent *= 2;
        bytes *= 2;
    }
}

/// Extents of a chunk of up to so many elements along the axis before the last two.
Extents chunk_of_layers(const ArrayInfo& array, std::int64_t layers) {
    const Extents& shape = array.shape;
    std::int64_t bytes = size_of(array.type);
    Extents chunk(shape.size(), 1);
    const std::size_t last = chunk.size() - 1;
    if (last > 1) {
        grow(chunk[last - 2], shape[last - 2], layers, bytes);
    }
    const std::int64_t all = wanted_chunk_bytes / bytes;
    if (last > 0) {
        std::int64_t side = 1;
        while (4 * side * side <= all) {
            side *= 2;
        }
        grow(chunk[last - 1], shape[last - 1], side, bytes);
    }
    for (std::size_t axis = last + 1; axis-- > 0;) {
        grow(chunk[axis], shape[axis], wanted_chunk_bytes, bytes);
    }
    for (std::size_t axis = 0; axis < chunk.size(); ++axis) {
        chunk[axis] = std::min(chunk[axis], shape[axis]);
    }
    return chunk;
}

void add_number(std::vector<std::byte>& bytes, std::uint64_t number, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
        bytes.push_back(static_cast<std::byte>(number >> 8 * i & 0xffU));
    }
}

} // namespace

DataPlace place_zarr(const OutputDataset& output, ZarrFlavour flavour) {
    if (!is_number(output.array.type) && !is_float16(output.array)) {
        throw Error(ExitCode::usage, {"cannot make a Zarr array", type_text(output.array),
                                      "its elements are integers or floating-point numbers",
                                      "End the output's name in .h5"});
    }
    if (flavour == ZarrFlavour::ome) {
        check_ome_array(output);
        (void)coarser_levels(output);
    }
    if (folder_of(output.layout) != nullptr) {
        (void)zarr_shard(output.array, output.layout);
        const std::int64_t chunk = ChunkGrid(output.array, output.layout).chunk_bytes();
        if (is_blosc(output.layout.compression) && chunk > most_blosc_bytes) {
            throw Error(ExitCode::usage,
                        {"cannot store the output in such chunks", "output.chunk",
                         "a chunk has " + size_text(chunk) + ", and blosc packs less than 2 GiB",
                         "Give smaller extents"});
        }
        if (is_version2(output) && zarr_files(output) > most_chunk_files) {
            throw Error(ExitCode::usage,
                        {"cannot store the output in such chunks", "output.ngff",
                         fmt::format("of Zarr 2 each chunk is a file, and there would be {}; at "
                                     "most {} are read",
                                     zarr_files(output), most_chunk_files),
                         "Give output.chunk larger extents, or write OME-Zarr 0.5"});
        }
    }
    const std::int64_t bytes = byte_count(output.array);
    return {0, bytes, bytes};
}

bool is_zarr_compression(Compression compression) {
    return compression == Compression::zstd || compression == Compression::gzip ||
           is_blosc(compression);
}

Extents zarr_chunk(const ArrayInfo& array, const OutputLayout& layout) {
    return layout.chunk.empty() ? chunk_of_layers(array, 1) : layout.chunk;
}

Extents zarr_cube(const ArrayInfo& array) {
    const std::size_t axes = array.shape.size();
    if (axes < 3) {
        return chunk_of_layers(array, 1);
    }
    const std::int64_t element = size_of(array.type);
    const std::int64_t layer = element * array.shape[axes - 2] * array.shape[axes - 1];
    std::int64_t side = 1;
    while (8 * side * side * side * element <= wanted_chunk_bytes &&
           2 * side * layer <= most_waiting_bytes) {
        side *= 2;
    }
    return chunk_of_layers(array, side);
}

Extents zarr_shard(const ArrayInfo& array, const OutputLayout& layout) {
    const ChunkGrid grid(array, layout);
    Extents shard = grid.chunk();
    if (layout.ngff == Ngff::v0_4) {
        return shard; // of Zarr 2, which has none
    }
    const Extents most = counts_along(array.shape, grid.chunk());
    if (!layout.shard.empty()) {
        const Extents chunk = zarr_chunk(array, layout);
        for (std::size_t axis = 0; axis < shard.size(); ++axis) {
            if (layout.shard.size() != shard.size() || layout.shard[axis] < 1 ||
                layout.shard[axis] % chunk[axis] != 0) {
                throw Error(ExitCode::usage,
                            {"cannot store the output in such shards",
                             "output.shard = " + shape_text(layout.shard),
                             "chunks are " + shape_text(chunk) + ", and a shard is whole chunks",
                             "Give multiples of the chunk's extents, one for each axis"});
            }
            shard[axis] *= std::min(layout.shard[axis] / chunk[axis], most[axis]);
        }
        return shard;
    }
    std::int64_t bytes = grid.chunk_bytes();
    for (std::size_t axis = shard.size(); axis-- > 0 && bytes < wanted_shard_bytes;) {
        const std::int64_t count = std::min(most[axis], ceil_divide(wanted_shard_bytes, bytes));
        shard[axis] *= count;
        bytes *= count;
    }
    return shard;
}

std::int64_t zarr_files(const OutputDataset& output) {
    return checked_product(
        counts_along(output.array.shape, zarr_shard(output.array, output.layout)));
}

FileOfChunks zarr_file(const OutputDataset& output, std::int64_t index, ZarrFlavour flavour) {
    const ChunkGrid grid(output.array, output.layout);
    const Extents& shape = output.array.shape;
    const Extents shard = zarr_shard(output.array, output.layout);
    const Extents place = coordinates(index, counts_along(shape, shard));
    FileOfChunks file;
    file.name = prefix_of(output, flavour) + (is_version2(output) ? "" : "c/");
    for (std::size_t axis = 0; axis < place.size(); ++axis) {
        file.name += (axis == 0 ? "" : "/") + std::to_string(place[axis]);
    }
    file.array =
        flavour == ZarrFlavour::ome ? "/" + std::to_string(output.layout.pyramid.level) : "/data";
    if (is_in_shards(output)) {
        file.shard = place;
    }
    const Extents within = counts_along(shard, grid.chunk());
    for (std::int64_t i = 0; i < checked_product(within); ++i) {
        Extents element = coordinates(i, within);
        bool is_beyond = false;
        for (std::size_t axis = 0; axis < element.size(); ++axis) {
            element[axis] = place[axis] * shard[axis] + element[axis] * grid.chunk()[axis];
            is_beyond = is_beyond || element[axis] >= shape[axis];
        }
        file.chunks.push_back(is_beyond ? -1 : grid.chunk_at(element));
    }
    return file;
}

PlaceInFile place_in_zarr(const OutputDataset& output, std::int64_t chunk) {
    const ChunkGrid grid(output.array, output.layout);
    const Extents& shape = output.array.shape;
    const Extents within = counts_along(zarr_shard(output.array, output.layout), grid.chunk());
    const Extents shards = counts_along(counts_along(shape, grid.chunk()), within);
    const Extents at = coordinates(chunk, counts_along(shape, grid.chunk()));
    PlaceInFile place;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
        place.file = place.file * shards[axis] + at[axis] / within[axis];
        place.index = place.index * within[axis] + at[axis] % within[axis];
    }
    return place;
}

std::vector<std::byte> zarr_tail(const OutputDataset& output, const FileOfChunks& file,
                                 std::span<const std::int64_t> sizes) {
    if (!is_in_shards(output)) {
        return {};
    }
    constexpr std::uint64_t none = ~std::uint64_t{0};
    std::vector<std::byte> index;
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const bool is_there = file.chunks[i] >= 0;
        const auto bytes = static_cast<std::uint64_t>(sizes[i]);
        add_number(index, is_there ? at : none, sizeof(at));
        add_number(index, is_there ? bytes : none, sizeof(bytes));
        at += bytes;
    }
    const std::uint32_t sum = crc32c(index);
    add_number(index, sum, sizeof(sum));
    return index;
}

std::vector<std::pair<std::string, std::string>> zarr_texts(const OutputDataset& output,
                                                            ZarrFlavour flavour) {
    if (flavour == ZarrFlavour::array) {
        return {{zarr_json, array_text(output, dimension_names(output))}};
    }
    const bool is_old = is_version2(output);
    const std::vector<std::string> names = ome_axis_names(output);
    const auto array = [&](const OutputDataset& level) {
        return std::pair(prefix_of(level, flavour) + (is_old ? zarray_json : zarr_json),
                         is_old ? zarray_text(level) : array_text(level, names));
    };
    std::vector<std::pair<std::string, std::string>> texts = {array(output)};
    for (const CoarserLevel& level : coarser_levels(output)) {
        texts.push_back(array(level.dataset));
    }
    if (is_old) {
        texts.emplace_back(zattrs_json, ome_attributes_text(output));
        texts.emplace_back(zgroup_json, zgroup_text);
    } else {
        texts.emplace_back(zarr_json, ome_group_text(output));
    }
    return texts;
}

std::string zarr_level_elements(const OutputDataset& level) {
    return prefix_of(level, ZarrFlavour::ome) + level_elements;
}

bool is_zarr_name(const std::string& file) {
    std::string name = file;
    if (constexpr std::string_view partial = ".partial"; name.ends_with(partial)) {
        name.resize(name.size() - partial.size()); // which a killed repair left
    }
    for (std::size_t at = 0; at <= name.size();) {
        const std::size_t end = std::min(name.find('/', at), name.size());
        const std::string part = name.substr(at, end - at);
        const bool is_number = part.find_first_not_of("0123456789") == std::string::npos;
        constexpr std::array<std::string_view, 7> known = {
            "c", zarr_json, zarray_json, zattrs_json, zgroup_json, level_elements, zarr_record};
        const bool is_known = std::find(known.begin(), known.end(), part) != known.end();
        if (!is_known && (part.empty() || !is_number)) {
            return false;
        }
        at = end + 1;
    }
    return true;
}

std::vector<std::string> left_out_of_zarr(const OutputDataset& output, ZarrFlavour flavour) {
    return flavour == ZarrFlavour::ome ? left_out_of_ome(output) : left_out_of_array(output);
}

} // namespace runner
