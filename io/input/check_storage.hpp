// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_dataset.hpp"
#include "io/input/dataset_layout.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// Checks the extents of a chunked dataset. HDF5 and this program count the chunks of extents
/// beyond the largest in different ways, and those of largest extents that 63 bits do not count.
/// @throws Error (input).
void check_extents(const DatasetHandle& dataset, const std::vector<std::int64_t>& chunk,
                   const std::string& where);

/// Checks a dataset without a stored element. HDF5 refuses to read what has no fill value either,
/// unless the file says that memory is to be left as it is. @throws Error (input).
void check_fill_value(const PropertyHandle& creation, const std::string& where);

/// Where a dataset's bytes lie, checked.
struct CheckedStorage {
    std::int64_t bytes = 0;         ///< of elements that are stored, unpacked; of other storage all
    std::vector<ChunkPlace> chunks; ///< of a chunked one
};

/// Checks where the bytes of a contiguous or chunked dataset lie: within their file, none over
/// another, each chunk of a size that its elements can have. Other storage passes.
/// @throws Error (input) naming the chunk and the byte, unless bad chunks are to be marked: then
/// some may also lie over one another.
CheckedStorage check_storage(const DatasetHandle& dataset, const PropertyHandle& creation,
                             const DatasetInfo& info, const std::string& where,
                             InputRules::BadChunks bad_chunks);

/// Checks all that HDF5 relies on while it reads a small dataset of the file itself: of a damaged
/// one it may take elements from other memory. In a process that may be lost. @throws Error
/// (input).
void check_stored(const DatasetHandle& dataset, const std::string& file, const std::string& path);

} // namespace runner
