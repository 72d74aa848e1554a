// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/szip.hpp"

#include "io/filters/filter_ids.hpp"
extern "C" { // which the header of libaec 1.0 leaves out
#include <szlib.h>
}

namespace runner {
namespace {

constexpr unsigned most_pixels_per_block = 32;
constexpr unsigned most_blocks_per_scanline = 128;
constexpr std::size_t size_bytes = 4; ///< of the size before the stream

bool is_pixel(unsigned bits) { return (bits >= 1 && bits <= 24) || bits == 32 || bits == 64; }

bool accepts(Parameters parameters) {
    if (parameters.size() != 4) {
        return false;
    }
    const unsigned block = parameters[1];
    const unsigned scanline = parameters[3];
    return block >= 2 && block % 2 == 0 && block <= most_pixels_per_block &&
           is_pixel(parameters[2]) && scanline >= block &&
           scanline <= block * most_blocks_per_scanline;
}

std::optional<std::size_t> claimed(Parameters /*parameters*/, Bytes packed) {
    if (packed.size() < size_bytes) {
        return std::nullopt;
    }
    std::size_t bytes = 0;
    for (std::size_t i = size_bytes; i-- > 0;) {
        bytes = bytes << 8U | std::to_integer<std::size_t>(packed[i]);
    }
    return bytes;
}

std::optional<std::size_t> unpack(Parameters parameters, Bytes packed, std::span<std::byte> to,
                                  CodecMemory& /*memory*/) {
    const std::optional<std::size_t> bytes = claimed(parameters, packed);
    if (!bytes || *bytes > to.size()) {
        return std::nullopt;
    }
    // libaec leaves what is behind the last whole pixel of 4 or 8 bytes as it was.
    if (parameters[2] >= 32 && *bytes % (parameters[2] / 8) != 0) {
        return std::nullopt;
    }
    packed = packed.subspan(size_bytes);
    SZ_com_t options{};
    options.options_mask = static_cast<int>(parameters[0]);
    options.pixels_per_block = static_cast<int>(parameters[1]);
    options.bits_per_pixel = static_cast<int>(parameters[2]);
    options.pixels_per_scanline = static_cast<int>(parameters[3]);
    std::size_t got = *bytes;
    const int result =
        SZ_BufftoBuffDecompress(to.data(), &got, packed.data(), packed.size(), &options);
    return result == SZ_OK && got == *bytes ? bytes : std::nullopt;
}

} // namespace

Codec szip_codec() { return {filter_id::szip, "szip", accepts, claimed, unpack}; }

} // namespace runner
