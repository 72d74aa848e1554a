// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"
#include "io/hdf5/chunk_list.hpp"
#include "io/rows/output_layout.hpp"
#include "io/rows/rows.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace runner {

/// Checks that a dataset's index of chunks is one for chunks of its extents: HDF5 finds a chunk in
/// some kinds of it by a number that follows from the extents, and does not ask whether the index
/// has so many. `file`: that holds it, from byte `base` on. @throws Error (input).
void check_index(const DatasetHandle& dataset, const ChunkList& list, const DatasetInfo& info,
                 const File& file, std::uint64_t base, const std::string& where);

/// The first bytes of a chunk as it is stored.
using ChunkHead = std::array<std::byte, 4>;

/// The fewest bytes in which a chunk of `chunk_bytes` can be stored, as far as its filters tell
/// without being undone: what HDF5's n-bit and scale-offset filters read, which do not ask how many
/// bytes they are given. Bit i of `skipped`: filter i was not applied. `head` is called where the
/// chunk begins with what scale-offset notes of its size; fewer bytes than that are never enough.
std::uint64_t least_stored_bytes(const std::vector<Filter>& filters, std::uint32_t skipped,
                                 std::uint64_t chunk_bytes, const std::function<ChunkHead()>& head);

} // namespace runner
