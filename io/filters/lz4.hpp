// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/codec.hpp"

namespace runner {

/// Filter 32004: the size in 8 bytes, the size of a block in 4, then for each block its packed size
/// in 4 and its bytes: as they are where both sizes are the same, else an LZ4 block. Numbers have
/// their highest byte first.
Codec lz4_codec();

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
