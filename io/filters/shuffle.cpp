// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/shuffle.hpp"

#include "base/error.hpp"
#include "io/filters/codec.hpp"
#include "io/filters/lz4.hpp"
#include "io/filters/zstd.hpp"
#include "kernels/bits/planes.hpp"

#include <algorithm>
#include <string>

#include <zstd.h>

namespace runner {
namespace {

bool shuffle_accepts(Parameters parameters) { return parameters.size() == 1 && parameters[0] > 0; }

std::optional<std::size_t> shuffle_claimed(Parameters /*parameters*/, Bytes packed) {
    return packed.size();
}

std::optional<std::size_t> shuffle_unpack(Parameters parameters, Bytes packed,
                                          std::span<std::byte> to, CodecMemory& /*memory*/) {
    if (packed.size() > to.size()) {
        return std::nullopt;
    }
    const std::size_t size = parameters[0];
    const std::size_t count = packed.size() / size;
    join_bytes(packed.data(), static_cast<std::int64_t>(count), static_cast<std::int64_t>(size),
               to.data());
    const Bytes rest = packed.subspan(count * size);
    std::copy(rest.begin(), rest.end(), to.begin() + static_cast<std::ptrdiff_t>(count * size));
    return packed.size();
}

constexpr std::size_t usual_block_bytes = 8192;
constexpr std::size_t least_block = 128; ///< elements of a block where a file gives none
constexpr std::size_t together = 8;      ///< elements whose bits share a byte

/// Places of the parameters.
constexpr std::size_t element_at = 2;
constexpr std::size_t block_at = 3;
constexpr std::size_t packing_at = 4;

constexpr unsigned unpacked_blocks = 0;

std::int64_t wide(std::size_t count) { return static_cast<std::int64_t>(count); }

unsigned packing_of(Parameters parameters) {
    return parameters.size() > packing_at ? parameters[packing_at] : unpacked_blocks;
}

bool accepts(Parameters parameters) {
    constexpr unsigned largest_element = 1U << 16U;
    if (parameters.size() <= element_at || parameters[element_at] < 1 ||
        parameters[element_at] > largest_element) {
        return false;
    }
    const unsigned packing = packing_of(parameters);
    return (parameters.size() <= block_at || parameters[block_at] % together == 0) &&
           (packing == unpacked_blocks ||
            packing == static_cast<unsigned>(BitshufflePacking::lz4) ||
            packing == static_cast<unsigned>(BitshufflePacking::zstd));
}

std::optional<std::size_t> claimed(Parameters parameters, Bytes packed) {
    return packing_of(parameters) == unpacked_blocks ? packed.size() : PackedStream(packed).u64();
}

/// How a chunk is cut: blocks of `block` elements, a last one of fewer, and the elements behind it.
struct Blocks {
    std::size_t element = 1; ///< bytes
    std::size_t block = together;
    std::size_t count = 0; ///< elements of the chunk

    std::size_t in_blocks() const { return count - count % together; }
    std::size_t at(std::size_t first) const { return std::min(block, in_blocks() - first); }
    std::size_t rest_bytes() const { return count % together * element; }
};

std::optional<std::size_t> unpack_planes(const Blocks& blocks, Bytes packed,
                                         std::span<std::byte> to, CodecMemory& memory) {
    const std::size_t largest = std::min(blocks.block, blocks.in_blocks());
    std::byte* const scratch = memory.scratch(largest * blocks.element);
    for (std::size_t first = 0; first < blocks.in_blocks(); first += blocks.at(first)) {
        join_bits(packed.data() + first * blocks.element, wide(blocks.at(first)),
                  wide(blocks.element), to.data() + first * blocks.element, scratch);
    }
    const Bytes rest = packed.last(blocks.rest_bytes());
    std::copy(rest.begin(), rest.end(), to.begin() + wide(packed.size() - rest.size()));
    return packed.size();
}

bool unpack_block(unsigned packing, Bytes packed, std::span<std::byte> to, CodecMemory& memory) {
    if (packing == static_cast<unsigned>(BitshufflePacking::lz4)) {
        return unpack_lz4_block(packed, to);
    }
    return ZSTD_decompressDCtx(memory.zstd(), to.data(), to.size(), packed.data(), packed.size()) ==
           to.size();
}

std::optional<std::size_t> unpack_blocks(unsigned packing, const Blocks& blocks,
                                         PackedStream stream, std::span<std::byte> to,
                                         CodecMemory& memory) {
    const std::size_t largest = std::min(blocks.block, blocks.in_blocks()) * blocks.element;
    std::byte* const planes = memory.scratch(2 * largest);
    for (std::size_t first = 0; first < blocks.in_blocks();) {
        const std::size_t elements = blocks.at(first);
        const auto size = stream.u32();
        const auto part = size ? stream.take(*size) : std::nullopt;
        if (!part || !unpack_block(packing, *part, {planes, elements * blocks.element}, memory)) {
            return std::nullopt;
        }
        join_bits(planes, wide(elements), wide(blocks.element), to.data() + first * blocks.element,
                  planes + largest);
        first += elements;
    }
    const auto rest = stream.take(blocks.rest_bytes());
    if (!rest) {
        return std::nullopt;
    }
    std::copy(rest->begin(), rest->end(), to.begin() + wide(blocks.in_blocks() * blocks.element));
    return blocks.count * blocks.element;
}

std::optional<std::size_t> unpack(Parameters parameters, Bytes packed, std::span<std::byte> to,
                                  CodecMemory& memory) {
    Blocks blocks;
    blocks.element = parameters[element_at];
    const unsigned packing = packing_of(parameters);
    if (packing == unpacked_blocks) {
        if (packed.size() > to.size() || packed.size() % blocks.element != 0) {
            return std::nullopt;
        }
        const std::size_t given = parameters.size() > block_at ? parameters[block_at] : 0;
        blocks.block = given == 0 ? bitshuffle_block(blocks.element) : given;
        blocks.count = packed.size() / blocks.element;
        return unpack_planes(blocks, packed, to, memory);
    }
    PackedStream stream(packed);
    const auto bytes = stream.u64();
    const auto block_bytes = stream.u32();
    if (!bytes || !block_bytes || *bytes > to.size() || *bytes % blocks.element != 0) {
        return std::nullopt;
    }
    const std::size_t given = *block_bytes / blocks.element;
    blocks.block = given == 0 ? bitshuffle_block(blocks.element) : given;
    blocks.count = static_cast<std::size_t>(*bytes) / blocks.element;
    if (blocks.block % together != 0) {
        return std::nullopt;
    }
    return unpack_blocks(packing, blocks, stream, to, memory);
}

std::size_t block_bound(std::size_t bytes) {
    return std::max(lz4_block_bound(bytes), ZSTD_compressBound(bytes));
}

std::size_t pack_block(Bytes planes, const BlockPacker& packer, std::byte* to) {
    if (packer.packing == BitshufflePacking::lz4) {
        return pack_lz4_block(planes, to);
    }
    return pack_zstd(planes, {to, block_bound(planes.size())}, *packer.zstd, packer.level);
}

} // namespace

Codec shuffle_codec() {
    return {filter_id::shuffle, "shuffle", shuffle_accepts, shuffle_claimed, shuffle_unpack};
}

void shuffle(Bytes from, std::size_t element_bytes, std::byte* to) {
    const std::size_t count = from.size() / element_bytes;
    split_bytes(from.data(), static_cast<std::int64_t>(count),
                static_cast<std::int64_t>(element_bytes), to);
    const Bytes rest = from.subspan(count * element_bytes);
    std::copy(rest.begin(), rest.end(), to + count * element_bytes);
}

Codec bitshuffle_codec() { return {filter_id::bitshuffle, "bitshuffle", accepts, claimed, unpack}; }

std::vector<unsigned> bitshuffle_parameters(BitshufflePacking packing, std::size_t element_bytes,
                                            int level) {
    // The version of the filter that first had zstd.
    std::vector<unsigned> parameters = {0, 4, static_cast<unsigned>(element_bytes), 0,
                                        static_cast<unsigned>(packing)};
    if (packing == BitshufflePacking::zstd) {
        parameters.push_back(static_cast<unsigned>(level));
    }
    return parameters;
}

std::size_t bitshuffle_bound(std::size_t bytes, std::size_t most_element_bytes) {
    // Where a block is of less than 8 KiB, by 8 elements at most, there are more of them.
    const std::size_t block_bytes = usual_block_bytes - together * most_element_bytes;
    const std::size_t blocks = bytes / block_bytes + 2;
    return sizeof(std::uint64_t) + sizeof(std::uint32_t) +
           blocks * (sizeof(std::uint32_t) + block_bound(usual_block_bytes)) +
           together * most_element_bytes;
}

std::size_t bitshuffle_block(std::size_t element_bytes) {
    const std::size_t elements = usual_block_bytes / element_bytes;
    return std::max(elements - elements % together, least_block);
}

std::size_t pack_bitshuffle(Bytes from, std::size_t element_bytes, const BlockPacker& packer,
                            std::byte* to, CodecMemory& memory) {
    const Blocks blocks{element_bytes, bitshuffle_block(element_bytes),
                        from.size() / element_bytes};
    const std::size_t largest = std::min(blocks.block, blocks.in_blocks()) * element_bytes;
    std::byte* const planes = memory.scratch(2 * largest);
    std::byte* end = put_big_endian(from.size(), sizeof(std::uint64_t), to);
    end = put_big_endian(blocks.block * element_bytes, sizeof(std::uint32_t), end);
    for (std::size_t first = 0; first < blocks.in_blocks();) {
        const std::size_t elements = blocks.at(first);
        split_bits(from.data() + first * element_bytes, wide(elements), wide(element_bytes), planes,
                   planes + largest);
        std::byte* const data = end + sizeof(std::uint32_t);
        const std::size_t bytes = pack_block({planes, elements * element_bytes}, packer, data);
        put_big_endian(bytes, sizeof(std::uint32_t), end);
        end = data + bytes;
        first += elements;
    }
    const Bytes rest = from.last(blocks.rest_bytes());
    return static_cast<std::size_t>(std::copy(rest.begin(), rest.end(), end) - to);
}

} // namespace runner
