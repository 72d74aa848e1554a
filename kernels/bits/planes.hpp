// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace runner {

/// Byte and bit planes of elements, as HDF5's shuffle and bitshuffle filters store them. Byte plane
/// b holds byte b of each element. Bit plane 8 · b + k holds bit k of byte b of each element: bit
/// i % 8 of its byte i / 8 belongs to element i. Planes lie one after the other.
///
/// In all four, `from` and `to` hold count · size bytes and do not overlap; `size` ≥ 1 is the bytes
/// of an element. They run on the widest vectors of this machine, in the calling thread.

/// Elements to byte planes.
void split_bytes(const std::byte* from, std::int64_t count, std::int64_t size, std::byte* to);

/// Byte planes to elements.
void join_bytes(const std::byte* from, std::int64_t count, std::int64_t size, std::byte* to);

/// Elements to bit planes. `count`: a multiple of 8. `scratch`: count · size bytes that overlap
/// neither of the others.
void split_bits(const std::byte* from, std::int64_t count, std::int64_t size, std::byte* to,
                std::byte* scratch);

/// Bit planes to elements, with the same rules.
void join_bits(const std::byte* from, std::int64_t count, std::int64_t size, std::byte* to,
               std::byte* scratch);

} // namespace runner
