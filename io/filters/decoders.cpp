// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/decoders.hpp"

#include "io/filters/codec.hpp"

#include <algorithm>

#include <blosc.h>
#include <bzlib.h>
#include <isa-l.h>
#include <libaec.h>
#include <zstd.h>

namespace runner {
namespace {

bool deflate_accepts(Parameters parameters) {
    constexpr unsigned highest_level = 9;
    return parameters.empty() || (parameters.size() == 1 && parameters[0] <= highest_level);
}

std::optional<std::size_t> deflate_claimed(Parameters /*parameters*/, Bytes /*packed*/) {
    return std::nullopt;
}

/// What a stream has unpacked to, and the bytes behind it.
struct Stream {
    std::size_t bytes = 0;
    Bytes rest;
};

/// `wrapping`: what is around the stream, as ISA-L numbers it. Nothing where it is damaged, cut or
/// larger than `to`.
std::optional<Stream> inflate_stream(std::uint32_t wrapping, Bytes packed,
                                     std::span<std::byte> to) {
    inflate_state state{};
    isal_inflate_init(&state);
    state.crc_flag = wrapping;
    // ISA-L does not write through this pointer; its type is an old one.
    state.next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(packed.data()));
    state.avail_in = static_cast<std::uint32_t>(packed.size());
    state.next_out = reinterpret_cast<std::uint8_t*>(to.data());
    state.avail_out = static_cast<std::uint32_t>(to.size());
    const bool whole =
        isal_inflate(&state) == ISAL_DECOMP_OK && state.block_state == ISAL_BLOCK_FINISH;
    // ISA-L holds some bytes that it has read ahead, as bits.
    const std::size_t rest = state.avail_in + static_cast<std::size_t>(state.read_in_length) / 8;
    return whole ? std::optional(Stream{state.total_out, packed.last(rest)}) : std::nullopt;
}

std::optional<std::size_t> deflate_unpack(Parameters /*parameters*/, Bytes packed,
                                          std::span<std::byte> to, CodecMemory& /*memory*/) {
    const std::optional<Stream> stream = inflate_stream(ISAL_ZLIB, packed, to);
    return stream ? std::optional(stream->bytes) : std::nullopt;
}

std::optional<std::size_t> zlib_unpack(Parameters /*parameters*/, Bytes packed,
                                       std::span<std::byte> to, CodecMemory& /*memory*/) {
    const std::optional<Stream> stream = inflate_stream(ISAL_ZLIB, packed, to);
    return stream && stream->rest.empty() ? std::optional(stream->bytes) : std::nullopt;
}

bool is_zeros(Bytes bytes) {
    return std::all_of(bytes.begin(), bytes.end(),
                       [](std::byte byte) { return byte == std::byte{}; });
}

std::optional<std::size_t> gzip_unpack(Parameters /*parameters*/, Bytes packed,
                                       std::span<std::byte> to, CodecMemory& /*memory*/) {
    std::size_t bytes = 0;
    do {
        const std::optional<Stream> member = inflate_stream(ISAL_GZIP, packed, to.subspan(bytes));
        if (!member) {
            return std::nullopt;
        }
        bytes += member->bytes;
        packed = member->rest;
    } while (!is_zeros(packed));
    return bytes;
}

bool bzip2_accepts(Parameters /*parameters*/) { return true; }

std::optional<std::size_t> bzip2_claimed(Parameters /*parameters*/, Bytes /*packed*/) {
    return std::nullopt;
}

std::optional<std::size_t> bzip2_unpack(Parameters /*parameters*/, Bytes packed,
                                        std::span<std::byte> to, CodecMemory& /*memory*/) {
    auto bytes = static_cast<unsigned>(to.size());
    // libbz2 does not write through this pointer; its type is an old one.
    const int result =
        BZ2_bzBuffToBuffDecompress(reinterpret_cast<char*>(to.data()), &bytes,
                                   const_cast<char*>(reinterpret_cast<const char*>(packed.data())),
                                   static_cast<unsigned>(packed.size()), 0, 0);
    return result == BZ_OK ? std::optional<std::size_t>(bytes) : std::nullopt;
}

/// A bzip2 stream, as inflate_stream() has one of deflate.
std::optional<Stream> bunzip2_stream(Bytes packed, std::span<std::byte> to) {
    bz_stream state{};
    if (BZ2_bzDecompressInit(&state, 0, 0) != BZ_OK) {
        return std::nullopt;
    }
    // libbz2 does not write through this pointer; its type is an old one.
    state.next_in = const_cast<char*>(reinterpret_cast<const char*>(packed.data()));
    state.avail_in = static_cast<unsigned>(packed.size());
    state.next_out = reinterpret_cast<char*>(to.data());
    state.avail_out = static_cast<unsigned>(to.size());
    const bool whole = BZ2_bzDecompress(&state) == BZ_STREAM_END;
    const Stream stream{to.size() - state.avail_out, packed.last(state.avail_in)};
    (void)BZ2_bzDecompressEnd(&state);
    return whole ? std::optional(stream) : std::nullopt;
}

std::optional<std::size_t> bzip2_streams_unpack(Parameters /*parameters*/, Bytes packed,
                                                std::span<std::byte> to, CodecMemory& /*memory*/) {
    std::size_t bytes = 0;
    do {
        const std::optional<Stream> stream = bunzip2_stream(packed, to.subspan(bytes));
        if (!stream) {
            return std::nullopt;
        }
        bytes += stream->bytes;
        packed = stream->rest;
    } while (!packed.empty());
    return bytes;
}

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

std::optional<std::size_t> whole_blosc_unpack(Parameters parameters, Bytes packed,
                                              std::span<std::byte> to, CodecMemory& memory) {
    const std::optional<Bytes> chunk = chunk_of(packed);
    return chunk && chunk->size() == packed.size() ? blosc_unpack(parameters, packed, to, memory)
                                                   : std::nullopt;
}

bool lzf_accepts(Parameters /*parameters*/) { return true; }

/// h5py stores the size of a chunk as the third parameter. It is not the size of these bytes where
/// a filter before this one has changed it.
std::optional<std::size_t> lzf_claimed(Parameters /*parameters*/, Bytes /*packed*/) {
    return std::nullopt;
}

/// Copies what lies `distance` back, of which the copy may be a part.
void repeat(std::byte* to, std::size_t distance, std::size_t length) {
    if (distance >= length) {
        std::copy_n(to - distance, length, to);
        return;
    }
    const std::byte* from = to - distance;
    for (std::size_t i = 0; i < length; ++i) {
        to[i] = from[i];
    }
}

std::optional<std::size_t> lzf_unpack(Parameters /*parameters*/, Bytes packed,
                                      std::span<std::byte> to, CodecMemory& /*memory*/) {
    constexpr std::size_t first_reference = 32;
    constexpr std::size_t long_length = 7;
    const auto at = [&](std::size_t i) { return std::to_integer<std::size_t>(packed[i]); };
    std::size_t in = 0;
    std::size_t out = 0;
    while (in < packed.size()) {
        const std::size_t control = at(in++);
        if (control < first_reference) {
            const std::size_t length = control + 1;
            if (length > packed.size() - in || length > to.size() - out) {
                return std::nullopt;
            }
            std::copy_n(packed.data() + in, length, to.data() + out);
            in += length;
            out += length;
            continue;
        }
        std::size_t length = control >> 5U;
        if (length == long_length) {
            if (in == packed.size()) {
                return std::nullopt;
            }
            length += at(in++);
        }
        length += 2;
        if (in == packed.size()) {
            return std::nullopt;
        }
        const std::size_t distance = ((control & 31U) << 8U | at(in++)) + 1;
        if (distance > out || length > to.size() - out) {
            return std::nullopt;
        }
        repeat(to.data() + out, distance, length);
        out += length;
    }
    return out;
}

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

Codec deflate_codec() {
    return {filter_id::deflate, "deflate", deflate_accepts, deflate_claimed, deflate_unpack};
}

Codec gzip_codec() {
    return {filter_id::gzip, "gzip", deflate_accepts, deflate_claimed, gzip_unpack};
}

Codec zlib_codec() {
    return {filter_id::zlib, "zlib", deflate_accepts, deflate_claimed, zlib_unpack};
}

Codec bzip2_codec() {
    return {filter_id::bzip2, "bzip2", bzip2_accepts, bzip2_claimed, bzip2_unpack};
}

Codec bzip2_streams_codec() {
    return {filter_id::bzip2_streams, "bzip2", bzip2_accepts, bzip2_claimed, bzip2_streams_unpack};
}

Codec zstd_codec() { return {filter_id::zstd, "zstd", zstd_accepts, zstd_claimed, zstd_unpack}; }

Codec blosc_codec() {
    return {filter_id::blosc, "blosc", blosc_accepts, blosc_claimed, blosc_unpack};
}

Codec whole_blosc_codec() {
    return {filter_id::whole_blosc, "blosc", blosc_accepts, blosc_claimed, whole_blosc_unpack};
}

Codec lzf_codec() { return {filter_id::lzf, "lzf", lzf_accepts, lzf_claimed, lzf_unpack}; }

Codec szip_codec() { return {filter_id::szip, "szip", szip_accepts, szip_claimed, szip_unpack}; }

} // namespace runner
