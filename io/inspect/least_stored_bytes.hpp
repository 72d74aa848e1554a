// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/output_layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace runner {

/// The first bytes of a chunk as it is stored.
using ChunkHead = std::array<std::byte, 4>;

/// The fewest bytes in which a chunk of `chunk_bytes` can be stored, as far as its filters tell
/// without being undone: what HDF5's n-bit and scale-offset filters read, which do not ask how many
/// bytes they are given. Bit i of `skipped`: filter i was not applied. `head` is called where the
/// chunk begins with what scale-offset notes of its size; fewer bytes than that are never enough.
std::uint64_t least_stored_bytes(const std::vector<Filter>& filters, std::uint32_t skipped,
                                 std::uint64_t chunk_bytes, const std::function<ChunkHead()>& head);

} // namespace runner
