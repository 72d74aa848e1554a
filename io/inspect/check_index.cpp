// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/check_index.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace runner {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
    throw Error(ExitCode::input, {"cannot read the dataset", where, why,
                                  "The file is damaged: copy it again, or make it again"});
}

/// Chunks of the largest extents; nothing where they are without end.
std::optional<std::uint64_t> most_chunks(const DatasetHandle& dataset, const DatasetInfo& info) {
    const SpaceHandle space(hdf5_must(H5Dget_space(dataset.get()), "H5Dget_space"));
    std::array<hsize_t, H5S_MAX_RANK> extents{};
    std::array<hsize_t, H5S_MAX_RANK> largest{};
    (void)H5Sget_simple_extent_dims(space.get(), extents.data(), largest.data());
    std::uint64_t count = 1;
    for (std::size_t axis = 0; axis < info.chunk.size(); ++axis) {
        const auto chunk = static_cast<hsize_t>(info.chunk[axis]);
        const hsize_t along = largest[axis] / chunk + (largest[axis] % chunk == 0 ? 0 : 1);
        if (largest[axis] == H5S_UNLIMITED || __builtin_mul_overflow(count, along, &count)) {
            return std::nullopt;
        }
    }
    return count;
}

/// How many chunks a fixed array has room for: behind its signature, version, client, size of an
/// entry and bits of a page.
std::uint64_t room_of(const DatasetHandle& dataset, const File& file, std::uint64_t at,
                      const std::string& where) {
    constexpr std::string_view signature = "FAHD";
    constexpr std::size_t number_at = 8;
    const FileHandle handle(hdf5_must(H5Iget_file_id(dataset.get()), "H5Iget_file_id"));
    const PropertyHandle creation(
        hdf5_must(H5Fget_create_plist(handle.get()), "H5Fget_create_plist"));
    std::size_t address_bytes = 0;
    std::size_t number_bytes = 0;
    hdf5_must(H5Pget_sizes(creation.get(), &address_bytes, &number_bytes), "H5Pget_sizes");
    std::array<std::byte, number_at + sizeof(std::uint64_t)> header{};
    const auto end = static_cast<std::uint64_t>(file.size());
    if (at > end || header.size() > end - at || number_bytes > sizeof(std::uint64_t)) {
        refuse(where, "its index of chunks is not in the file");
    }
    file.read(static_cast<std::int64_t>(at), std::ssize(header), header.data());
    const bool is_one = std::equal(
        signature.begin(), signature.end(), header.begin(),
        [](char wanted, std::byte found) { return static_cast<std::byte>(wanted) == found; });
    if (!is_one) {
        refuse(where, "its index of chunks is none");
    }
    std::uint64_t number = 0;
    for (std::size_t i = number_at + number_bytes; i-- > number_at;) {
        number = number << 8U | std::to_integer<std::uint64_t>(header[i]);
    }
    return number;
}

/// A fixed array numbers the chunks of the largest extents, and HDF5 removes what lies outside of
/// smaller ones: one that was made for other extents has chunks elsewhere, or ends before.
void check_fixed_array(const DatasetHandle& dataset, const ChunkList& list, const DatasetInfo& info,
                       const File& file, std::uint64_t base, const std::string& where) {
    for (std::size_t i = 0; i < list.chunks.size(); ++i) {
        const auto start = list.start_of(i);
        for (std::size_t axis = 0; axis < start.size(); ++axis) {
            if (start[axis] < 0 || start[axis] >= info.array.shape[axis]) {
                refuse(where + ", chunk from " + shape_text(start),
                       "it lies outside of the dataset's " + shape_text(info.array.shape));
            }
        }
    }
    if (list.chunks.empty()) {
        return; // there may be no index yet
    }
    const std::optional<std::uint64_t> wanted = most_chunks(dataset, info);
    const std::uint64_t room = room_of(dataset, file, base + list.index, where);
    if (wanted != room) {
        refuse(where, fmt::format("its index has room for {} chunks and its extents have {}", room,
                                  wanted ? std::to_string(*wanted) : "no end"));
    }
}

} // namespace

void check_index(const DatasetHandle& dataset, const ChunkList& list, const DatasetInfo& info,
                 const File& file, std::uint64_t base, const std::string& where) {
    H5D_chunk_index_t index = H5D_CHUNK_IDX_BTREE;
    hdf5_must(H5Dget_chunk_index_type(dataset.get(), &index), "H5Dget_chunk_index_type");
    if (index == H5D_CHUNK_IDX_FARRAY) {
        check_fixed_array(dataset, list, info, file, base, where);
    }
    for (std::size_t axis = 0; index == H5D_CHUNK_IDX_SINGLE && axis < info.chunk.size(); ++axis) {
        if (info.chunk[axis] < info.array.shape[axis]) {
            refuse(where, "its only chunk is " + shape_text(info.chunk) + " and its shape is " +
                              shape_text(info.array.shape));
        }
    }
}

} // namespace runner
