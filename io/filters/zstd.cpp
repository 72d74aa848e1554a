// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/zstd.hpp"

#include "io/filters/filter_ids.hpp"
#include <zstd.h>

namespace runner {
namespace {

bool zstd_accepts(Parameters /*parameters*/) { return true; }

std::optional<std::size_t> zstd_claimed(Parameters /*parameters*/, Bytes packed) {
    const unsigned long long bytes = ZSTD_getFrameContentSize(packed.data(), packed.size());
    if (bytes == ZSTD_CONTENTSIZE_UNKNOWN || bytes == ZSTD_CONTENTSIZE_ERROR) {
        return std::nullopt;
    }
    return bytes;
}

std::optional<std::size_t> zstd_unpack(Parameters /*parameters*/, Bytes packed,
                                       std::span<std::byte> to, CodecMemory& memory) {
    const std::size_t bytes =
        ZSTD_decompressDCtx(memory.zstd(), to.data(), to.size(), packed.data(), packed.size());
    return ZSTD_isError(bytes) == 0 ? std::optional(bytes) : std::nullopt;
}

} // namespace

Codec zstd_codec() { return {filter_id::zstd, "zstd", zstd_accepts, zstd_claimed, zstd_unpack}; }

} // namespace runner
