// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/written_format.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// How a Zarr store is written: a folder with one array, in chunks of little-endian elements. Those
/// of version 3 are in shards (`sharding_indexed`, the index at the end with its crc32c).

/// What the folder is: the array itself, of version 3, or a group of OME-Zarr whose image has it as
/// level 0 (OutputLayout::ngff).
enum class ZarrFlavour { array, ome };

/// PackedFormat's and WrittenFormat's functions. @throws Error (usage) for an array that the store
/// cannot hold, and for a shard that is not whole chunks.
DataPlace place_zarr(const OutputDataset& output, ZarrFlavour flavour);
bool is_zarr_compression(Compression compression);

/// By default 1 MiB: of the last two axes as nearly square as may be, and of the axes before where
/// frames are smaller.
std::vector<std::int64_t> zarr_chunk(const ArrayInfo& array, const OutputLayout& layout);

/// FolderOfChunks::cube: as nearly cubic as may be along the last three axes, of 1 MiB. The layers
/// that it has parts of take at most 256 MiB, since their rows wait until a chunk has all of them.
std::vector<std::int64_t> zarr_cube(const ArrayInfo& array);

/// What a chunk file holds, in multiples of the chunk. By default it grows along the last axes
/// until it has 256 MiB. Of version 2 it is the chunk.
std::vector<std::int64_t> zarr_shard(const ArrayInfo& array, const OutputLayout& layout);

/// FolderOfChunks' functions.
std::int64_t zarr_files(const OutputDataset& output);
FileOfChunks zarr_file(const OutputDataset& output, std::int64_t index, ZarrFlavour flavour);
PlaceInFile place_in_zarr(const OutputDataset& output, std::int64_t chunk);
std::vector<std::byte> zarr_tail(const OutputDataset& output, const FileOfChunks& file,
                                 std::span<const std::int64_t> sizes);
std::vector<std::pair<std::string, std::string>> zarr_texts(const OutputDataset& output,
                                                            ZarrFlavour flavour);

std::string zarr_level_elements(const OutputDataset& level);
bool is_zarr_name(const std::string& name);

/// FolderOfChunks::record: a file that no version of Zarr knows.
inline constexpr const char* zarr_record = "runner.json";

/// What of the output's axes the texts do not say.
std::vector<std::string> left_out_of_zarr(const OutputDataset& output, ZarrFlavour flavour);

} // namespace runner
