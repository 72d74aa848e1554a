// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/filter.hpp"
#include "io/rows/output_layout.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// Undoes shuffle_bytes(). `from` and `to` do not overlap.
void unshuffle_bytes(std::span<const std::byte> from, std::int64_t size, std::byte* to);

/// HDF5's form of Fletcher's checksum: of 16-bit words, the high byte first, a missing last byte 0.
std::uint32_t fletcher32(std::span<const std::byte> bytes);

/// The filters of an output's compressed chunks, in their order. `element_bytes`: for the shuffle.
std::vector<Filter> layout_filters(const OutputLayout& layout, std::int64_t element_bytes);

/// Unpacks stored chunks without HDF5, and so on many threads at once. One for each thread.
class Unpacker {
  public:
    /// Whether it can undo these filters: at most shuffle, then one of deflate and zstd, then
    /// fletcher32.
    static bool knows(const std::vector<Filter>& filters);

    /// `filters`: known ones; `chunk_bytes`: of an unpacked chunk.
    Unpacker(std::vector<Filter> filters, std::int64_t chunk_bytes);

    /// The chunk's elements; valid until the next call or until `packed` goes. Bit i of `skipped`:
    /// filter i was not applied. @throws Error (input) with `where` for damaged
    /// bytes.
    std::span<const std::byte> unpack(std::span<const std::byte> packed, std::uint32_t skipped,
                                      const std::string& where);

  private:
    std::vector<Filter> filters_;
    std::size_t chunk_bytes_;
    std::vector<std::byte> inflated_;
    std::vector<std::byte> sorted_;
};

} // namespace runner
