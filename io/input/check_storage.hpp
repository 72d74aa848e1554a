// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_dataset.hpp"
#include "io/input/dataset_layout.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

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

} // namespace runner
