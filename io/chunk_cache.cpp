// SPDX-License-Identifier: BSD-3-Clause
#include "io/chunk_cache.hpp"

#include "base/sizes.hpp"

#include <algorithm>

namespace runner {
namespace {

constexpr std::int64_t largest_cache = GiB;

} // namespace

std::int64_t reader_bytes(const DatasetInfo& info) {
    if (info.chunk.empty()) {
        return 0;
    }
    // Rows in order pass through all chunks that share the first axis' range before the next ones.
    std::int64_t band =
        std::min(info.chunk.front(), info.array.shape.front()) * size_of(info.array.type);
    for (std::size_t axis = 1; axis < info.chunk.size(); ++axis) {
        const std::int64_t chunk = info.chunk[axis];
        const std::int64_t extent = info.array.shape[axis];
        const std::int64_t covered = (extent + chunk - 1) / chunk * chunk;
        band = band > largest_cache / covered ? largest_cache : band * covered;
    }
    std::int64_t one = size_of(info.array.type);
    for (const std::int64_t extent : info.chunk) {
        one *= extent;
    }
    return std::max(std::min(band, largest_cache), one);
}

DatasetHandle open_dataset_cached(const FileHandle& handle, const std::string& dataset,
                                  const DatasetInfo& info) {
    constexpr std::size_t slots = 12421; // a prime far above the number of chunks held
    const PropertyHandle access(hdf5_must(H5Pcreate(H5P_DATASET_ACCESS), "H5Pcreate"));
    const std::int64_t bytes = reader_bytes(info);
    if (bytes > 0) {
        hdf5_must(H5Pset_chunk_cache(access.get(), slots, static_cast<std::size_t>(bytes), 1.0),
                  "H5Pset_chunk_cache");
    }
    return DatasetHandle(H5Dopen2(handle.get(), dataset.c_str(), access.get()));
}

} // namespace runner
