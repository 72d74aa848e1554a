// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"
#include "io/hdf5/chunk_list.hpp"
#include "io/rows/rows.hpp"

#include <cstdint>
#include <string>

namespace runner {

/// Checks that a dataset's index of chunks is one for chunks of its extents: HDF5 finds a chunk in
/// some kinds of it by a number that follows from the extents, and does not ask whether the index
/// has so many. `file`: that holds it, from byte `base` on. @throws Error (input).
void check_index(const DatasetHandle& dataset, const ChunkList& list, const DatasetInfo& info,
                 const File& file, std::uint64_t base, const std::string& where);

} // namespace runner
