// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/codec.hpp"

#include <array>

struct ZSTD_CCtx_s;

namespace runner {

/// Filter 2: the byte planes of the elements (split_bytes()), then what is left of an element. Its
/// parameter is the element's size.
Codec shuffle_codec();

/// Packs as the filter does. `element_bytes` ≥ 1; `to`: as many bytes as `from`, not overlapping.
void shuffle(Bytes from, std::size_t element_bytes, std::byte* to);

/// Filter 32008: the bit planes (split_bits()) of blocks of elements, each block then packed by LZ4
/// or zstd, or by nothing.
///
/// Its parameters are {major, minor, bytes of an element, elements of a block (0: of 8 KiB), 0 none
/// or 2 LZ4 or 3 zstd, level}; from the fourth on they may be missing. Packed, the bytes begin with
/// the unpacked size in 8 bytes and a block's in 4. For each block its packed size in 4 bytes and
/// the bytes follow. Numbers have their highest byte first. The last block has what is left in
/// multiples of 8 elements; the elements behind it, fewer than 8, end the chunk as they are.
Codec bitshuffle_codec();

enum class BitshufflePacking { lz4 = 2, zstd = 3 };

/// The parameters of chunks that pack_bitshuffle() makes. `level`: of zstd.
std::vector<unsigned> bitshuffle_parameters(BitshufflePacking packing, std::size_t element_bytes,
                                            int level);

/// The most bytes that pack_bitshuffle() makes of so many, of elements of at most so many, which
/// are at most 64.
std::size_t bitshuffle_bound(std::size_t bytes, std::size_t most_element_bytes);

/// Elements of a block where a file gives none.
std::size_t bitshuffle_block(std::size_t element_bytes);

/// How pack_bitshuffle() packs its blocks.
struct BlockPacker {
    BitshufflePacking packing = BitshufflePacking::lz4;
    ZSTD_CCtx_s* zstd = nullptr; ///< only for zstd
    int level = 1;               ///< of zstd
};

/// Packs whole elements as filter 32008 does, into the front of `to` of bitshuffle_bound() bytes.
/// Returns their count. @throws as pack_zstd().
std::size_t pack_bitshuffle(Bytes from, std::size_t element_bytes, const BlockPacker& packer,
                            std::byte* to, CodecMemory& memory);

} // namespace runner
