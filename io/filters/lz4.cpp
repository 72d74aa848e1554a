// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/lz4.hpp"

#include "io/filters/codec.hpp"

#include <algorithm>
#include <limits>

#include <lz4.h>

namespace runner {
namespace {

/// What the filter that others use cuts into where a file does not say.
constexpr std::size_t usual_block = std::size_t{1} << 30;

bool lz4_accepts(Parameters /*parameters*/) { return true; }

std::optional<std::size_t> lz4_claimed(Parameters /*parameters*/, Bytes packed) {
    return PackedStream(packed).u64();
}

std::optional<std::size_t> lz4_unpack(Parameters /*parameters*/, Bytes packed,
                                      std::span<std::byte> to, CodecMemory& /*memory*/) {
    PackedStream stream(packed);
    const auto bytes = stream.u64();
    const auto block_bytes = stream.u32();
    if (!bytes || !block_bytes || *bytes > to.size() || (*block_bytes == 0 && *bytes > 0)) {
        return std::nullopt;
    }
    to = to.first(static_cast<std::size_t>(*bytes));
    for (std::size_t at = 0; at < to.size();) {
        const std::span<std::byte> block =
            to.subspan(at, std::min<std::size_t>(*block_bytes, to.size() - at));
        const auto packed_bytes = stream.u32();
        const auto part = packed_bytes ? stream.take(*packed_bytes) : std::nullopt;
        if (!part) {
            return std::nullopt;
        }
        if (part->size() == block.size()) {
            std::copy(part->begin(), part->end(), block.begin());
        } else if (!unpack_lz4_block(*part, block)) {
            return std::nullopt;
        }
        at += block.size();
    }
    return to.size();
}

bool sized_lz4_accepts(Parameters parameters) { return parameters.empty(); }

std::optional<std::size_t> sized_lz4_claimed(Parameters /*parameters*/, Bytes packed) {
    if (packed.size() < sizeof(std::uint32_t)) {
        return std::nullopt;
    }
    std::size_t bytes = 0;
    for (std::size_t i = sizeof(std::uint32_t); i-- > 0;) {
        bytes = bytes << 8U | std::to_integer<std::size_t>(packed[i]);
    }
    return bytes;
}

std::optional<std::size_t> sized_lz4_unpack(Parameters parameters, Bytes packed,
                                            std::span<std::byte> to, CodecMemory& /*memory*/) {
    const std::optional<std::size_t> bytes = sized_lz4_claimed(parameters, packed);
    const bool fits = bytes && *bytes <= to.size() &&
                      unpack_lz4_block(packed.subspan(sizeof(std::uint32_t)), to.first(*bytes));
    return fits ? bytes : std::nullopt;
}

} // namespace

Codec sized_lz4_codec() {
    return {filter_id::sized_lz4, "lz4", sized_lz4_accepts, sized_lz4_claimed, sized_lz4_unpack};
}

Codec lz4_codec() { return {filter_id::lz4, "lz4", lz4_accepts, lz4_claimed, lz4_unpack}; }

bool unpack_lz4_block(Bytes packed, std::span<std::byte> to) {
    constexpr std::size_t most = std::numeric_limits<int>::max();
    return packed.size() <= most && to.size() <= most &&
           LZ4_decompress_safe(reinterpret_cast<const char*>(packed.data()),
                               reinterpret_cast<char*>(to.data()), static_cast<int>(packed.size()),
                               static_cast<int>(to.size())) == static_cast<int>(to.size());
}

std::size_t lz4_block_bound(std::size_t bytes) {
    return static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(bytes)));
}

std::size_t pack_lz4_block(Bytes from, std::byte* to) {
    return static_cast<std::size_t>(LZ4_compress_default(
        reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(to),
        static_cast<int>(from.size()), static_cast<int>(lz4_block_bound(from.size()))));
}

std::size_t lz4_bound(std::size_t bytes) {
    const std::size_t blocks = bytes / usual_block + 1;
    const std::size_t each = lz4_block_bound(std::min(bytes, usual_block));
    return sizeof(std::uint64_t) + sizeof(std::uint32_t) + blocks * (sizeof(std::uint32_t) + each);
}

std::size_t pack_lz4(Bytes from, std::byte* to) {
    const std::size_t block_bytes = std::min(from.size(), usual_block);
    std::byte* end = put_big_endian(from.size(), sizeof(std::uint64_t), to);
    end = put_big_endian(block_bytes, sizeof(std::uint32_t), end);
    while (!from.empty()) {
        const Bytes block = from.first(std::min(from.size(), block_bytes));
        from = from.subspan(block.size());
        std::byte* const data = end + sizeof(std::uint32_t);
        std::size_t bytes = pack_lz4_block(block, data);
        if (bytes >= block.size()) { // as many would be read as unpacked bytes
            std::copy(block.begin(), block.end(), data);
            bytes = block.size();
        }
        put_big_endian(bytes, sizeof(std::uint32_t), end);
        end = data + bytes;
    }
    return static_cast<std::size_t>(end - to);
}

} // namespace runner
