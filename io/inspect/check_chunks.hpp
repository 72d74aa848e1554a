// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/sizes.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/rows/rows.hpp"
#include "io/rows/stored_rows.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// Checks that HDF5's own filters have the parameters that HDF5 gives them for this type and chunk:
/// they reckon with them while they unpack; and that those of io/filters/ have possible ones. Other
/// filters pass. @throws Error (input) naming the filter.
void check_filter_parameters(const DatasetHandle& dataset, const PropertyHandle& creation,
                             const std::string& where);

/// Bytes of elements that are unpacked for a trial, at most.
inline constexpr std::int64_t tried_bytes = 64 * MiB;

/// The first of the chunks, of no more than tried_bytes together.
std::vector<ChunkPlace> chunks_to_try(const std::vector<ChunkPlace>& chunks,
                                      const DatasetInfo& info);

/// Unpacks chunks that HDF5 is to read: it does not ask how many bytes come out, and takes elements
/// behind their end from other memory. Chunks with a filter that HDF5 alone knows pass. `holder`:
/// the file that has them. @throws Error (input) naming the chunk.
void try_chunks(const std::string& holder, const PropertyHandle& creation, const DatasetInfo& info,
                std::span<const ChunkPlace> chunks, const std::string& where);

} // namespace runner
