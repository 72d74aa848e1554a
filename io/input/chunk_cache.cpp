// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/chunk_cache.hpp"

#include "base/sizes.hpp"
#include "io/formats/rows_format.hpp"
#include "io/input/open_rows.hpp"

#include <algorithm>

namespace runner {
namespace {

constexpr std::int64_t largest_cache = GiB;

std::int64_t unpacked_bytes(const DatasetInfo& info) {
    return byte_count({info.array.type, info.chunk});
}

/// Bytes of all chunks that share a range of the first axis, which rows in order pass through
/// before the next ones; the largest cache and one where they are more.
std::int64_t band_bytes(const DatasetInfo& info) {
    std::int64_t band = size_of(info.array.type);
    for (std::size_t axis = 0; axis < info.chunk.size(); ++axis) {
        const std::int64_t chunk = info.chunk[axis];
        const std::int64_t covered =
            axis == 0 ? chunk : (info.array.shape[axis] + chunk - 1) / chunk * chunk;
        if (band > largest_cache / covered) {
            return largest_cache + 1;
        }
        band *= covered;
    }
    return band;
}

std::int64_t cache_bytes(const DatasetInfo& info) {
    return std::max(std::min(band_bytes(info), largest_cache), unpacked_bytes(info));
}

} // namespace

bool fits_cache(const DatasetInfo& info) { return band_bytes(info) <= largest_cache; }

std::int64_t reader_bytes(const DatasetInfo& info, int threads) {
    if (holds_cells(info)) {
        return cell_reader_bytes(threads);
    }
    if (info.chunk.empty()) {
        return 0;
    }
    // The chunks kept, and in each thread one as it is stored, without compression and in order.
    // Between two filters that change its size it may take twice as much.
    const auto packing =
        std::count_if(info.filters.begin(), info.filters.end(), [](const std::string& name) {
            return name != "shuffle" && name != "fletcher32";
        });
    const std::int64_t chunks = packing > 1 ? 6 : 3;
    return cache_bytes(info) + chunks * threads * unpacked_bytes(info);
}

DatasetHandle open_dataset_cached(const FileHandle& handle, const std::string& dataset,
                                  const DatasetInfo& info) {
    constexpr std::size_t slots = 12421; // a prime far above the number of chunks held
    const PropertyHandle access(hdf5_must(H5Pcreate(H5P_DATASET_ACCESS), "H5Pcreate"));
    if (!info.chunk.empty()) {
        hdf5_must(H5Pset_chunk_cache(access.get(), slots,
                                     static_cast<std::size_t>(cache_bytes(info)), 1.0),
                  "H5Pset_chunk_cache");
    }
    return DatasetHandle(H5Dopen2(handle.get(), dataset.c_str(), access.get()));
}

} // namespace runner
