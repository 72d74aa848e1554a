// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// One chunk as the index of a dataset tells of it; nothing of it has been checked.
struct StoredChunk {
    std::uint64_t address = 0; ///< from the file's base address; ~0 for none
    std::uint64_t bytes = 0;   ///< as stored
    std::uint32_t skipped = 0; ///< bit i: filter i was not applied
};

/// Every chunk that a dataset stores.
struct ChunkList {
    std::vector<StoredChunk> chunks;
    std::vector<std::int64_t> starts;        ///< of each chunk its first element's coordinates
    std::uint64_t index = ~std::uint64_t{0}; ///< address of their index; ~0 where none is told

    /// The first element of chunk `i`, one coordinate an axis.
    std::span<const std::int64_t> start_of(std::size_t i) const {
        const std::size_t axes = starts.size() / chunks.size();
        return std::span(starts).subspan(i * axes, axes);
    }
};

/// Lists the chunks of a chunked dataset of `axes` axes in one walk through its index: HDF5 1.10
/// has no other call that takes less than a time as the square of their number. It prints them, so
/// this is for a process that does nothing else with standard output meanwhile.
/// @throws Error (input) with `where` when the index is damaged.
ChunkList list_chunks(const DatasetHandle& dataset, std::size_t axes, const std::string& where);

/// A compressed chunk and where it goes.
struct PackedChunk {
    std::vector<std::int64_t> start; ///< its first element, one coordinate an axis
    std::vector<std::byte> bytes;
};

/// Stores them by HDF5, in this process. @throws Error (output).
void store_packed_chunks(const std::string& file, const std::string& dataset,
                         const std::vector<PackedChunk>& chunks);

} // namespace runner
