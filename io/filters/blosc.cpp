// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/blosc.hpp"

#include "io/filters/filter_ids.hpp"
#include <blosc.h>

namespace runner {
namespace {

bool blosc_accepts(Parameters /*parameters*/) { return true; }

/// A chunk without what may follow it; nothing where its header is damaged.
std::optional<Bytes> chunk_of(Bytes packed) {
    if (packed.size() < BLOSC_MIN_HEADER_LENGTH) {
        return std::nullopt;
    }
    std::size_t unpacked = 0;
    std::size_t bytes = 0;
    std::size_t block = 0;
    blosc_cbuffer_sizes(packed.data(), &unpacked, &bytes, &block);
    return bytes <= packed.size() ? std::optional(packed.first(bytes)) : std::nullopt;
}

std::optional<std::size_t> blosc_claimed(Parameters /*parameters*/, Bytes packed) {
    const std::optional<Bytes> chunk = chunk_of(packed);
    std::size_t bytes = 0;
    if (!chunk || blosc_cbuffer_validate(chunk->data(), chunk->size(), &bytes) < 0) {
        return std::nullopt;
    }
    return bytes;
}

std::optional<std::size_t> blosc_unpack(Parameters parameters, Bytes packed,
                                        std::span<std::byte> to, CodecMemory& /*memory*/) {
    const std::optional<std::size_t> bytes = blosc_claimed(parameters, packed);
    if (!bytes || *bytes > to.size()) {
        return std::nullopt;
    }
    const int got = blosc_decompress_ctx(packed.data(), to.data(), *bytes, 1);
    return got >= 0 && static_cast<std::size_t>(got) == *bytes ? bytes : std::nullopt;
}

} // namespace

Codec blosc_codec() {
    return {filter_id::blosc, "blosc", blosc_accepts, blosc_claimed, blosc_unpack};
}

} // namespace runner
