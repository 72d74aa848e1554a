// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/codec.hpp"

#include <cstdint>
#include <optional>

namespace runner {

/// Takes big-endian numbers and bytes from the front of packed bytes, never beyond their end.
class PackedStream {
  public:
    explicit PackedStream(Bytes bytes) : left_(bytes) {}

    /// Nothing where fewer bytes are left.
    std::optional<Bytes> take(std::uint64_t count) {
        if (count > left_.size()) {
            return std::nullopt;
        }
        const Bytes front = left_.first(static_cast<std::size_t>(count));
        left_ = left_.subspan(front.size());
        return front;
    }

    std::optional<std::uint32_t> u32() {
        const auto value = number(sizeof(std::uint32_t));
        return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
    }

    std::optional<std::uint64_t> u64() { return number(sizeof(std::uint64_t)); }

  private:
    std::optional<std::uint64_t> number(std::size_t size) {
        const std::optional<Bytes> bytes = take(size);
        if (!bytes) {
            return std::nullopt;
        }
        std::uint64_t value = 0;
        for (const std::byte byte : *bytes) {
            value = value << 8U | std::to_integer<std::uint64_t>(byte);
        }
        return value;
    }

    Bytes left_;
};

/// Puts the low `size` bytes of a number at `to`, the highest first; returns the byte behind.
inline std::byte* put_big_endian(std::uint64_t value, std::size_t size, std::byte* to) {
    for (std::size_t i = 0; i < size; ++i) {
        to[i] = static_cast<std::byte>(value >> (8 * (size - 1 - i)));
    }
    return to + size;
}

/// Filter 32004: the size in 8 bytes, the size of a block in 4, then for each block its packed size
/// in 4 and its bytes: as they are where both sizes are the same, else an LZ4 block. Numbers have
/// their highest byte first.
Codec lz4_codec();

/// Zarr's lz4: the size in 4 bytes, the lowest first, then an LZ4 block.
Codec sized_lz4_codec();

/// Whether exactly `to` comes out of one LZ4 block.
bool unpack_lz4_block(Bytes packed, std::span<std::byte> to);

/// The most bytes of one LZ4 block of so many, at most 1 GiB.
std::size_t lz4_block_bound(std::size_t bytes);

/// Packs one LZ4 block into the front of `to` of lz4_block_bound() bytes. Returns their count.
std::size_t pack_lz4_block(Bytes from, std::byte* to);

/// The most bytes that pack_lz4() makes of so many.
std::size_t lz4_bound(std::size_t bytes);

/// Packs as filter 32004 does, into the front of `to` of lz4_bound() bytes. Returns their count.
std::size_t pack_lz4(Bytes from, std::byte* to);

} // namespace runner
