// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/check_storage.hpp"

#include "base/format.hpp"
#include "io/files/file.hpp"
#include "io/filters/unpacker.hpp"
#include "io/hdf5/chunk_list.hpp"
#include "io/inspect/check_chunks.hpp"
#include "io/inspect/check_index.hpp"
#include "io/inspect/inspect_dataset.hpp"
#include "io/packings/packings.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

namespace runner {
namespace {

using BadChunks = InputRules::BadChunks;

constexpr const char* what_storage = "cannot read the dataset";
constexpr const char* copy_again = "The file is damaged: copy it again, or make it again";

/// HDF5 counts a chunk's bytes in 32 bits.
constexpr std::int64_t largest_chunk = (std::int64_t{1} << 32) - 1;

/// The part of the file that addresses of the dataset's bytes count in.
struct Extent {
    std::uint64_t base = 0; ///< of address 0: behind a user block
    std::uint64_t end = 0;  ///< of the file, or what its superblock says: HDF5 reads nothing behind
};

/// The extent of the file that holds the dataset, which a link may have led to.
Extent extent_of(const DatasetHandle& dataset) {
    const FileHandle file(hdf5_must(H5Iget_file_id(dataset.get()), "H5Iget_file_id"));
    const PropertyHandle creation(
        hdf5_must(H5Fget_create_plist(file.get()), "H5Fget_create_plist"));
    hsize_t block = 0;
    hdf5_must(H5Pget_userblock(creation.get(), &block), "H5Pget_userblock");
    haddr_t end = 0;
    hdf5_must(H5Fget_eoa(file.get(), &end), "H5Fget_eoa");
    const std::int64_t size = File(file_of(dataset), File::Mode::read).size();
    return {block, std::min<std::uint64_t>(end, static_cast<std::uint64_t>(size))};
}

[[noreturn]] void refuse_storage(const std::string& where, const std::string& why) {
    throw Error(ExitCode::input, {what_storage, where, why, copy_again});
}

/// What stands against bytes at this place of the file; empty where nothing does.
std::string range_objection(std::uint64_t address, std::uint64_t bytes, const Extent& extent) {
    const std::uint64_t room = extent.end - std::min(extent.base, extent.end);
    if (address <= room && bytes <= room - address) {
        return "";
    }
    return fmt::format("{} bytes of it should begin at byte {}, and the file has {}", bytes,
                       extent.base + address, extent.end);
}

std::int64_t check_contiguous(const DatasetHandle& dataset, const DatasetInfo& info,
                              const std::string& where) {
    const haddr_t offset = H5Dget_offset(dataset.get());
    const std::int64_t bytes = byte_count(info.array);
    const Extent whole = extent_of(dataset);
    // HDF5 adds the user block to its mark for no address too.
    if (offset == HADDR_UNDEF || offset == HADDR_UNDEF + whole.base) {
        return 0; // nothing was written: all of it reads as the fill value
    }
    if (info.stored_bytes != bytes) {
        refuse_storage(where, fmt::format("its elements have {} bytes and {} are stored", bytes,
                                          info.stored_bytes));
    }
    // This one address HDF5 gives from the file's first byte.
    const Extent extent{0, whole.end};
    const auto against = range_objection(offset, static_cast<std::uint64_t>(bytes), extent);
    if (!against.empty()) {
        refuse_storage(where, against);
    }
    return bytes;
}

/// HDF5 keeps these bytes in memory, and reads elements behind their end from other memory.
void check_compact(const DatasetInfo& info, const std::string& where) {
    if (info.stored_bytes < byte_count(info.array)) {
        refuse_storage(where, fmt::format("its elements have {} bytes and {} are stored",
                                          byte_count(info.array), info.stored_bytes));
    }
}

/// What can be seen to be wrong with a chunk's size without unpacking it.
std::string size_objection(const StoredChunk& chunk, const std::vector<Filter>& filters,
                           std::int64_t chunk_bytes, BadChunks bad_chunks) {
    const auto unpacked = static_cast<std::uint64_t>(chunk_bytes);
    const auto was_applied = [&](std::size_t i) {
        return i >= 32 || (chunk.skipped >> i & 1U) == 0;
    };
    bool packed = false;
    for (std::size_t i = 0; i < filters.size(); ++i) {
        packed = packed || was_applied(i);
    }
    const bool is_known = Unpacker::knows(filters);
    const bool deflated =
        packed && filters.back().id == H5Z_FILTER_DEFLATE && was_applied(filters.size() - 1);
    if (chunk.bytes != 0 && (packed || chunk.bytes == unpacked) &&
        (!is_known || chunk.bytes <= static_cast<std::uint64_t>(most_packed_bytes(chunk_bytes))) &&
        (!deflated || bad_chunks == BadChunks::mark ||
         chunk.bytes >= unpacked / static_cast<std::uint64_t>(highest_ratio::deflate))) {
        return "";
    }
    return fmt::format("{} bytes of it are stored, which cannot be its {}", chunk.bytes, unpacked);
}

/// What is wrong where filters of HDF5 would read behind the chunk's end.
std::string filters_objection(const StoredChunk& chunk, const std::vector<Filter>& filters,
                              std::int64_t chunk_bytes, const File& file, const Extent& extent) {
    const auto head = [&] {
        ChunkHead first{};
        if (chunk.bytes >= first.size()) {
            file.read(static_cast<std::int64_t>(extent.base + chunk.address), std::ssize(first),
                      first.data());
        }
        return first;
    };
    const std::uint64_t least =
        least_stored_bytes(filters, chunk.skipped, static_cast<std::uint64_t>(chunk_bytes), head);
    return chunk.bytes >= least
               ? ""
               : fmt::format(
                     "{} bytes of it are stored, and its {} make at least {} with its filters",
                     chunk.bytes, chunk_bytes, least);
}

bool lies_within(std::span<const std::int64_t> start, std::span<const std::int64_t> shape) {
    for (std::size_t axis = 0; axis < start.size(); ++axis) {
        if (start[axis] < 0 || start[axis] >= shape[axis]) {
            return false;
        }
    }
    return true;
}

/// Whether the chunk crosses the array's edge, where HDF5 may be told to leave chunks unpacked:
/// what such a chunk lacks of its bytes, it reads from other memory.
bool is_stored_plain(const PropertyHandle& creation, std::span<const std::int64_t> start,
                     const DatasetInfo& info) {
    unsigned options = 0;
    if (H5Pget_chunk_opts(creation.get(), &options) < 0 ||
        (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) == 0) {
        return false;
    }
    for (std::size_t axis = 0; axis < start.size(); ++axis) {
        if (start[axis] > info.array.shape[axis] - info.chunk[axis]) {
            return true;
        }
    }
    return false;
}

/// What is wrong when a reader looks the chunk up by its coordinates. A walk through the index, as
/// list_chunks() makes it, also passes chunks with a damaged key, which a search does not find: for
/// HDF5 these were never written.
std::string search_objection(const DatasetHandle& dataset, const StoredChunk& chunk,
                             std::span<const std::int64_t> start,
                             std::span<const std::int64_t> shape) {
    if (!lies_within(start, shape)) {
        return ""; // no reader asks for it
    }
    const std::vector<hsize_t> offset(start.begin(), start.end());
    hsize_t bytes = 0;
    if (H5Dget_chunk_storage_size(dataset.get(), offset.data(), &bytes) < 0 ||
        bytes != chunk.bytes) {
        return "the index of chunks lists it, and a search of the index does not find it";
    }
    return "";
}

void check_overlaps(const ChunkList& list, const std::string& where) {
    std::vector<std::size_t> order(list.chunks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return list.chunks[a].address < list.chunks[b].address;
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
        const StoredChunk& before = list.chunks[order[i - 1]];
        if (before.address + before.bytes > list.chunks[order[i]].address) {
            refuse_storage(
                where + ", chunks from " + shape_text(list.start_of(order[i - 1])) + " and " +
                    shape_text(list.start_of(order[i])),
                fmt::format("they lie over one another at byte {}", list.chunks[order[i]].address));
        }
    }
}

/// The chunk's place in the grid and in the file; nothing for one beyond the array.
std::optional<ChunkPlace> place_of(const StoredChunk& chunk, std::span<const std::int64_t> start,
                                   const DatasetInfo& info, const Extent& extent,
                                   const std::string& where) {
    const std::vector<std::int64_t> counts = chunk_counts(info);
    ChunkPlace place;
    bool is_within = true;
    for (std::size_t axis = 0; axis < start.size(); ++axis) {
        const std::int64_t along = start[axis] / info.chunk[axis];
        if (start[axis] < 0 || start[axis] % info.chunk[axis] != 0) {
            refuse_storage(where + ", chunk from " + shape_text(start),
                           "no chunk of " + shape_text(info.chunk) + " begins there");
        }
        is_within = is_within && along < counts[axis];
        place.index = is_within ? place.index * counts[axis] + along : 0;
    }
    place.offset = static_cast<std::int64_t>(extent.base + chunk.address);
    place.bytes = static_cast<std::int64_t>(chunk.bytes);
    place.skipped = chunk.skipped;
    return is_within ? std::optional(place) : std::nullopt;
}

/// In the grid's order, each once.
std::vector<ChunkPlace> places_of(const ChunkList& list, const DatasetInfo& info,
                                  const Extent& extent, const std::string& where) {
    std::vector<ChunkPlace> places;
    places.reserve(list.chunks.size());
    for (std::size_t i = 0; i < list.chunks.size(); ++i) {
        if (const auto place = place_of(list.chunks[i], list.start_of(i), info, extent, where)) {
            places.push_back(*place);
        }
    }
    std::sort(places.begin(), places.end(),
              [](const ChunkPlace& a, const ChunkPlace& b) { return a.index < b.index; });
    const auto twice = std::adjacent_find(
        places.begin(), places.end(),
        [](const ChunkPlace& a, const ChunkPlace& b) { return a.index == b.index; });
    if (twice != places.end()) {
        refuse_storage(where, fmt::format("its index has chunk {} twice", twice->index));
    }
    return places;
}

CheckedStorage check_chunked(const DatasetHandle& dataset, const PropertyHandle& creation,
                             const DatasetInfo& info, const std::string& where,
                             BadChunks bad_chunks) {
    const std::size_t axes = info.array.shape.size();
    if (info.chunk.size() != axes ||
        std::any_of(info.chunk.begin(), info.chunk.end(), [](auto n) { return n < 1; })) {
        refuse_storage(where, "its chunks are " + shape_text(info.chunk) + " and its shape is " +
                                  shape_text(info.array.shape));
    }
    std::int64_t chunk_bytes = size_of(info.array.type);
    for (const std::int64_t extent : info.chunk) {
        if (extent > largest_chunk / chunk_bytes) {
            refuse_storage(where, "a chunk of " + shape_text(info.chunk) + " passes HDF5's 4 GiB");
        }
        chunk_bytes *= extent;
    }
    const std::vector<Filter> filters = filters_of(creation);
    const Extent extent = extent_of(dataset);
    const File file(file_of(dataset), File::Mode::read);
    ChunkList list = list_chunks(dataset, axes, where);
    for (std::size_t i = 0; i < list.chunks.size(); ++i) {
        StoredChunk chunk = list.chunks[i];
        if (is_stored_plain(creation, list.start_of(i), info)) {
            chunk.skipped = ~0U;
        }
        std::string against = range_objection(chunk.address, chunk.bytes, extent);
        if (against.empty()) {
            against = size_objection(chunk, filters, chunk_bytes, bad_chunks);
        }
        if (against.empty()) {
            against = filters_objection(chunk, filters, chunk_bytes, file, extent);
        }
        if (against.empty()) {
            against = search_objection(dataset, list.chunks[i], list.start_of(i), info.array.shape);
        }
        if (!against.empty() && bad_chunks == BadChunks::mark) {
            list.chunks[i] = {};
        } else if (!against.empty()) {
            refuse_storage(where + ", chunk from " + shape_text(list.start_of(i)), against);
        }
    }
    if (bad_chunks == BadChunks::refuse) {
        check_overlaps(list, where);
        check_index(dataset, list, info, file, extent.base, where);
    }
    const std::int64_t stored = std::ssize(list.chunks) > byte_count(info.array) / chunk_bytes
                                    ? byte_count(info.array)
                                    : std::ssize(list.chunks) * chunk_bytes;
    return {stored, places_of(list, info, extent, where)};
}

} // namespace

void check_extents(const DatasetHandle& dataset, const std::vector<std::int64_t>& chunk,
                   const std::string& where) {
    const SpaceHandle space(hdf5_must(H5Dget_space(dataset.get()), "H5Dget_space"));
    std::array<hsize_t, H5S_MAX_RANK> extents{};
    std::array<hsize_t, H5S_MAX_RANK> largest{};
    const int axes = H5Sget_simple_extent_dims(space.get(), extents.data(), largest.data());
    hsize_t left = std::numeric_limits<std::int64_t>::max(); // over the chunks of the axes so far
    for (std::size_t axis = 0; std::cmp_less(axis, axes); ++axis) {
        const hsize_t extent = largest[axis] == H5S_UNLIMITED ? extents[axis] : largest[axis];
        const auto of_chunk = static_cast<hsize_t>(chunk[axis]);
        left /= std::max<hsize_t>(1, extent / of_chunk + (extent % of_chunk == 0 ? 0 : 1));
        if (left == 0) {
            throw Error(ExitCode::input,
                        {what_storage, where,
                         fmt::format("with its largest extents, {} along axis {}, it would have "
                                     "more than 2^63 chunks",
                                     extent, axis),
                         copy_again});
        }
        if (extents[axis] > largest[axis]) { // H5S_UNLIMITED is above all
            throw Error(
                ExitCode::input,
                {what_storage, where,
                 fmt::format("axis {} has {} elements, and the file says that it has at most {}",
                             axis, extents[axis], largest[axis]),
                 copy_again});
        }
    }
}

void check_fill_value(const PropertyHandle& creation, const std::string& where) {
    H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
    hdf5_must(H5Pfill_value_defined(creation.get(), &defined), "H5Pfill_value_defined");
    H5D_fill_time_t time = H5D_FILL_TIME_IFSET;
    hdf5_must(H5Pget_fill_time(creation.get(), &time), "H5Pget_fill_time");
    if (defined == H5D_FILL_VALUE_UNDEFINED && time != H5D_FILL_TIME_NEVER) {
        throw Error(ExitCode::input, {what_storage, where,
                                      "none of its elements is stored, and it has no fill value",
                                      "Write its elements, or make it with a fill value"});
    }
}

CheckedStorage check_storage(const DatasetHandle& dataset, const PropertyHandle& creation,
                             const DatasetInfo& info, const std::string& where,
                             BadChunks bad_chunks) {
    if (info.storage == "contiguous") {
        return {check_contiguous(dataset, info, where), {}};
    }
    if (info.storage == "chunked") {
        return check_chunked(dataset, creation, info, where, bad_chunks);
    }
    if (info.storage == "compact") {
        check_compact(info, where);
    }
    return {byte_count(info.array), {}};
}

void check_stored(const DatasetHandle& dataset, const std::string& file, const std::string& path) {
    const PropertyHandle creation = creation_of(dataset);
    const std::string where = file_and_dataset(file, path);
    check_filter_parameters(dataset, creation, where);
    const DatasetInfo info = inspect_dataset(file, path);
    const CheckedStorage storage =
        check_storage(dataset, creation, info, where, InputRules::BadChunks::refuse);
    try_chunks(file_of(dataset), creation, info, chunks_to_try(storage.chunks, info), where);
}

} // namespace runner
