// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/szip.hpp"

#include "io/filters/filter_ids.hpp"

#include <algorithm>

#include <libaec.h>

namespace runner {
namespace {

constexpr unsigned most_pixels_per_block = 32;
constexpr unsigned most_blocks_per_scanline = 128;
constexpr std::size_t size_bytes = 4; ///< of the size before the stream
constexpr unsigned msb_option = 16;   ///< of the options, as szip has them
constexpr unsigned nn_option = 32;

bool is_pixel(unsigned bits) { return (bits >= 1 && bits <= 24) || bits == 32 || bits == 64; }

bool szip_accepts(Parameters parameters) {
    if (parameters.size() != 4) {
        return false;
    }
    const unsigned block = parameters[1];
    const unsigned scanline = parameters[3];
    return block >= 2 && block % 2 == 0 && block <= most_pixels_per_block &&
           is_pixel(parameters[2]) && scanline >= block &&
           scanline <= block * most_blocks_per_scanline;
}

std::optional<std::size_t> szip_claimed(Parameters /*parameters*/, Bytes packed) {
    if (packed.size() < size_bytes) {
        return std::nullopt;
    }
    std::size_t bytes = 0;
    for (std::size_t i = size_bytes; i-- > 0;) {
        bytes = bytes << 8U | std::to_integer<std::size_t>(packed[i]);
    }
    return bytes;
}

/// How szip gives pixels to the coder: those of 4 and 8 bytes as as many bytes, first the first
/// ones of all pixels; and each scan line filled up to whole blocks.
struct Pixels {
    unsigned bits;         ///< of what the coder takes for a pixel
    std::size_t bytes;     ///< of that
    std::size_t apart = 1; ///< bytes of a pixel that are coded one by one
    unsigned block;
    unsigned blocks;        ///< of a scan line
    std::size_t line;       ///< bytes of a scan line
    std::size_t coded_line; ///< with what fills it up

    explicit Pixels(Parameters parameters) : bits(parameters[2]), block(parameters[1]) {
        if (bits >= 32) {
            apart = bits / 8;
            bits = 8;
        }
        bytes = bits > 16 ? 4 : (bits > 8 ? 2 : 1);
        blocks = (parameters[3] + block - 1) / block;
        line = parameters[3] * bytes;
        coded_line = std::size_t{blocks} * block * bytes;
    }

    /// Bytes up to the last of so many in coded lines.
    std::size_t coded(std::size_t size) const { return size / line * coded_line + size % line; }
};

/// Fills `to`; false where the stream is damaged or ends before.
bool decode(Parameters parameters, const Pixels& pixels, Bytes packed, std::span<std::byte> to) {
    aec_stream stream{};
    stream.next_in = reinterpret_cast<const unsigned char*>(packed.data());
    stream.avail_in = packed.size();
    stream.next_out = reinterpret_cast<unsigned char*>(to.data());
    stream.avail_out = to.size();
    stream.bits_per_sample = pixels.bits;
    stream.block_size = pixels.block;
    stream.rsi = pixels.blocks;
    stream.flags = ((parameters[0] & msb_option) != 0 ? AEC_DATA_MSB : 0U) |
                   ((parameters[0] & nn_option) != 0 ? AEC_DATA_PREPROCESS : 0U);
    if (aec_decode_init(&stream) != AEC_OK) {
        return false;
    }
    const int result = aec_decode(&stream, AEC_FLUSH);
    return (aec_decode_end(&stream) == AEC_OK) && result == AEC_OK && stream.total_out == to.size();
}

/// Takes what fills the lines up out of `coded`; the bytes are in its front then.
void close_lines(const Pixels& pixels, std::span<std::byte> coded, std::size_t size) {
    for (std::size_t line = 1; line * pixels.line < size; ++line) {
        const auto from = coded.begin() + static_cast<std::ptrdiff_t>(line * pixels.coded_line);
        const std::size_t count = std::min(pixels.line, size - line * pixels.line);
        std::copy_n(from, count, coded.begin() + static_cast<std::ptrdiff_t>(line * pixels.line));
    }
}

std::optional<std::size_t> szip_unpack(Parameters parameters, Bytes packed, std::span<std::byte> to,
                                       CodecMemory& memory) {
    const std::optional<std::size_t> bytes = szip_claimed(parameters, packed);
    if (!bytes || *bytes > to.size()) {
        return std::nullopt;
    }
    const Pixels pixels(parameters);
    if (*bytes % (pixels.bytes * pixels.apart) != 0) {
        return std::nullopt; // libaec leaves what is behind the last whole pixel as it was
    }
    to = to.first(*bytes);
    packed = packed.subspan(size_bytes);
    if (pixels.line == pixels.coded_line && pixels.apart == 1) {
        return decode(parameters, pixels, packed, to) ? bytes : std::nullopt;
    }
    const std::size_t coded_bytes = pixels.coded(*bytes);
    const std::span<std::byte> coded(memory.scratch(coded_bytes), coded_bytes);
    if (!decode(parameters, pixels, packed, coded)) {
        return std::nullopt;
    }
    close_lines(pixels, coded, *bytes);
    const std::size_t count = *bytes / pixels.apart;
    for (std::size_t plane = 0; plane < pixels.apart; ++plane) {
        for (std::size_t i = 0; i < count; ++i) {
            to[i * pixels.apart + plane] = coded[plane * count + i];
        }
    }
    return bytes;
}

} // namespace

Codec szip_codec() { return {filter_id::szip, "szip", szip_accepts, szip_claimed, szip_unpack}; }

} // namespace runner
