// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// A compressed chunk and where it goes.
struct PackedChunk {
    std::vector<std::int64_t> start; ///< its first element, one coordinate an axis
    std::vector<std::byte> bytes;
};

/// Stores them by HDF5, in this process. @throws Error (output).
void store_packed_chunks(const std::string& file, const std::string& dataset,
                         const std::vector<PackedChunk>& chunks);

} // namespace runner
