// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// One level of sharding: what a chunk file, or a chunk of the level above, is cut into.
struct ZarrShard {
    std::vector<std::int64_t> chunk; ///< extents of the chunks within, of which the shard has whole
    enum class Index { first, last } index = Index::last; ///< where in the shard it lies
    bool big_endian = false;                              ///< its numbers
    bool has_checksum = false;                            ///< crc32c behind them
};

/// What the metadata of an array say, as a value.
struct ZarrArray {
    DatasetInfo info;                     ///< its chunks are those within the innermost shard
    std::vector<std::int64_t> file_chunk; ///< extents of what a chunk file holds
    std::vector<ZarrShard> shards;        ///< from the outermost on
    std::vector<Filter> filters;          ///< that a chunk passes through, in this order
    std::vector<std::byte> fill;          ///< one element, of this machine's byte order
    std::string key_prefix;               ///< "c" or ""
    char separator = '/';                 ///< of the numbers in a chunk's key
};

/// The files that hold the metadata of a node of version 3, and of an array of version 2.
inline constexpr const char* zarr_json = "zarr.json";
inline constexpr const char* zarray_json = ".zarray";
inline constexpr const char* zgroup_json = ".zgroup";
inline constexpr const char* zattrs_json = ".zattrs";

/// Reads the text of a .zarray file, or of the zarr.json of an array. `where`: the array, for
/// messages. @throws Error (input) for what is no such text, and for a codec, a type of elements or
/// another part that is not read here, by its name.
ZarrArray parse_zarray(std::string_view text, const std::string& where);
ZarrArray parse_zarr_json(std::string_view text, const std::string& where);

/// @throws Error (input): the array cannot be read.
[[noreturn]] void refuse_zarr(const std::string& where, const std::string& why,
                              const std::string& try_this = "Get it again from where it was made");

} // namespace runner
