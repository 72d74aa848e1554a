// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/filters/codec.hpp"
#include "io/rows/output_layout.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// HDF5's form of Fletcher's checksum: of 16-bit words, the high byte first, a missing last byte 0.
std::uint32_t fletcher32(std::span<const std::byte> bytes);

/// Castagnoli's checksum, as iSCSI and Zarr have it.
std::uint32_t crc32c(std::span<const std::byte> bytes);

/// The filters of an output's compressed chunks, in their order. `element_bytes`: for those that
/// sort bytes or bits.
std::vector<Filter> layout_filters(const OutputLayout& layout, std::int64_t element_bytes);

/// The same of an output's array, also where its format has a filter of its own.
std::vector<Filter> layout_filters(const OutputLayout& layout, const ArrayInfo& array);

/// The most bytes that a stored chunk may take: no filter that we know makes one so much larger.
std::int64_t most_packed_bytes(std::int64_t chunk_bytes);

/// Whether a filter of this id is undone without HDF5, and can have these parameters.
bool is_known(const Filter& filter);

/// Unpacks stored chunks without HDF5, and so on many threads at once. One for each thread.
class Unpacker {
  public:
    /// Whether it can undo these filters: all are known, in whatever order.
    static bool knows(const std::vector<Filter>& filters);

    /// `filters`: known ones; `chunk_bytes`: of an unpacked chunk.
    Unpacker(std::vector<Filter> filters, std::int64_t chunk_bytes);

    /// The chunk's elements; valid until the next call or until `packed` goes. Bit i of `skipped`:
    /// filter i was not applied. `least`: bytes that there must be, where a chunk across the end
    /// of the array may be cut there; nothing: all of a chunk. @throws Error (input) with `where`
    /// for damaged bytes.
    std::span<const std::byte> unpack(std::span<const std::byte> packed, std::uint32_t skipped,
                                      const std::string& where,
                                      std::optional<std::int64_t> least = {});

    /// The same straight into `to`, of a chunk's bytes. Returns how many bytes the elements are.
    std::size_t unpack_to(std::span<const std::byte> packed, std::uint32_t skipped,
                          const std::string& where, std::span<std::byte> to,
                          std::optional<std::int64_t> least = {});

  private:
    /// What filter i was given when the chunk was packed: its size, or the most that it may be.
    struct Size {
        std::size_t bytes;
        bool exact;
    };
    Size size_before(std::size_t filter, std::uint32_t skipped) const;

    /// Undoes filter `number`, into `to` where that has just the size of the result.
    std::span<const std::byte> undo(std::size_t number, std::span<const std::byte> packed,
                                    std::uint32_t skipped, const std::string& where,
                                    std::span<std::byte> to);

    std::span<const std::byte> undo_all(std::span<const std::byte> packed, std::uint32_t skipped,
                                        const std::string& where, std::span<std::byte> to);

    std::vector<Filter> filters_;
    std::size_t chunk_bytes_;
    std::size_t least_;                 ///< bytes of this chunk
    std::vector<std::byte> buffers_[2]; ///< one filter's result, and the next one's
    std::size_t turn_ = 0;              ///< the buffer that the next result goes to
    CodecMemory memory_;
};

} // namespace runner
