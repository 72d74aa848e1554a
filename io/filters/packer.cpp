// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/packer.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "io/filters/lz4.hpp"
#include "io/filters/page_codecs.hpp"
#include "io/filters/shuffle.hpp"
#include "io/filters/unpacker.hpp"
#include "io/packings/packings.hpp"
#include "io/rows/written_format.hpp"

#include <algorithm>
#include <array>

#include <isa-l.h>
#include <zlib.h>
#include <zstd.h>

namespace runner {
namespace {

constexpr std::size_t most_element_bytes = 16;

/// ISA-L has four levels; zlib's ten are laid over them.
std::uint32_t isal_level(int level) {
    static constexpr std::array<std::uint32_t, 10> levels = {0, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    return levels[static_cast<std::size_t>(std::clamp(level, 0, 9))];
}

std::int64_t workspace_bytes(int level) {
    static constexpr std::array<std::int64_t, 4> bytes = {
        ISAL_DEF_LVL0_DEFAULT, ISAL_DEF_LVL1_DEFAULT, ISAL_DEF_LVL2_DEFAULT, ISAL_DEF_LVL3_DEFAULT};
    return bytes[isal_level(level)];
}

/// Room for data that does not get smaller: deflate stores it in blocks of 65,535 bytes and five.
std::int64_t deflate_bound(std::int64_t bytes) { return bytes + 5 * (bytes / 65535 + 1) + 1024; }

BitshufflePacking packing_of(Compression compression) {
    return compression == Compression::bitshuffle_zstd ? BitshufflePacking::zstd
                                                       : BitshufflePacking::lz4;
}

/// Room for what a chunk is packed to, whatever its elements.
std::size_t packed_bound(Compression compression, std::int64_t chunk_bytes) {
    const auto bytes = static_cast<std::size_t>(chunk_bytes);
    switch (compression) {
    case Compression::none: return 0;
    case Compression::deflate: return static_cast<std::size_t>(deflate_bound(chunk_bytes));
    case Compression::zstd: return ZSTD_compressBound(bytes);
    case Compression::lz4: return lz4_bound(bytes);
    case Compression::lzw: return lzw_bound(bytes);
    case Compression::bitshuffle_lz4:
    case Compression::bitshuffle_zstd: return bitshuffle_bound(bytes, most_element_bytes);
    }
    return 0;
}

int end_zlib(z_stream_s* stream) {
    const int result = deflateEnd(stream); // of one that was not begun, it does nothing
    delete stream;
    return result;
}

bool packs_lines(const OutputLayout& layout) {
    return !layout.is_hdf5() && layout.format->packed != nullptr &&
           layout.format->packed->filter != nullptr;
}

/// Room for lines that a byte stands before, a filter's number.
std::int64_t filtered_bound(std::int64_t chunk_bytes) { return 2 * chunk_bytes; }

std::int64_t lines_bound(std::int64_t chunk_bytes) {
    return deflate_bound(filtered_bound(chunk_bytes)) + filtered_bound(chunk_bytes) / 1024 +
           png_lines_head;
}

std::unique_ptr<z_stream_s, int (*)(z_stream_s*)> new_zlib(int level) {
    constexpr int bare_window = -15; // without zlib's head and end
    constexpr int memory = 8;
    std::unique_ptr<z_stream_s, int (*)(z_stream_s*)> zlib(new z_stream_s(), end_zlib);
    if (deflateInit2(zlib.get(), level, Z_DEFLATED, bare_window, memory, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        throw Error(ExitCode::launch, {"cannot take host memory", "zlib", "none is left", ""});
    }
    return zlib;
}

} // namespace

Packer::Packer(const OutputLayout& layout, std::int64_t chunk_bytes, std::int64_t element_bytes)
    : layout_(layout), element_bytes_(element_bytes), zlib_(nullptr, end_zlib),
      zstd_(nullptr, ZSTD_freeCCtx) {
    if (layout.shuffle && element_bytes > 1) {
        shuffled_.resize(static_cast<std::size_t>(chunk_bytes));
    }
    packed_.resize(packed_bound(layout.compression, chunk_bytes));
    if (layout.compression == Compression::deflate) {
        workspace_.resize(static_cast<std::size_t>(workspace_bytes(layout.level)));
    }
    if (layout.compression == Compression::zstd ||
        layout.compression == Compression::bitshuffle_zstd) {
        zstd_.reset(ZSTD_createCCtx());
        if (!zstd_) {
            throw Error(ExitCode::launch, {"cannot take host memory", "zstd", "none is left", ""});
        }
    }
}

Packer::Packer(const OutputLayout& layout, std::int64_t chunk_bytes, const ArrayInfo& array)
    : Packer(layout, chunk_bytes, size_of(array.type)) {
    if (packs_lines(layout)) {
        picture_ = lines_of_picture(layout.format->packed->filter(array, layout).parameters);
        filtered_.resize(static_cast<std::size_t>(filtered_bound(chunk_bytes)));
        packed_.resize(static_cast<std::size_t>(lines_bound(chunk_bytes)));
        zlib_ = new_zlib(layout.level);
    }
}

std::int64_t Packer::memory(const OutputLayout& layout, std::int64_t chunk_bytes) {
    std::int64_t bytes = (layout.shuffle ? chunk_bytes : 0) +
                         static_cast<std::int64_t>(packed_bound(layout.compression, chunk_bytes));
    if (layout.compression == Compression::deflate) {
        bytes += workspace_bytes(layout.level);
    }
    if (packs_lines(layout)) {
        constexpr std::int64_t of_zlib =
            300 * KiB; // as zconf.h counts it, for its window of 32 KiB
        bytes += filtered_bound(chunk_bytes) + lines_bound(chunk_bytes) + of_zlib;
    }
    if (layout.compression == Compression::zstd ||
        layout.compression == Compression::bitshuffle_zstd) {
        bytes += static_cast<std::int64_t>(ZSTD_estimateCCtxSize(layout.level));
    }
    return bytes;
}

std::span<const std::byte> Packer::pack(std::span<const std::byte> chunk) {
    const auto element = static_cast<std::size_t>(element_bytes_);
    if (layout_.shuffle && element_bytes_ > 1) {
        shuffle(chunk, element, shuffled_.data());
        chunk = std::span(shuffled_).first(chunk.size());
    }
    if (picture_) {
        return lines(chunk);
    }
    switch (layout_.compression) {
    case Compression::deflate: return deflate(chunk);
    case Compression::zstd: return zstd(chunk);
    case Compression::lzw: return std::span(packed_).first(pack_lzw(chunk, packed_));
    case Compression::lz4: return std::span(packed_).first(pack_lz4(chunk, packed_.data()));
    case Compression::bitshuffle_lz4:
    case Compression::bitshuffle_zstd:
        return std::span(packed_).first(pack_bitshuffle(
            chunk, element, {packing_of(layout_.compression), zstd_.get(), layout_.level},
            packed_.data(), memory_));
    case Compression::none: break;
    }
    throw Error(ExitCode::defect, {"cannot compress a chunk", "", "it has no compression", ""});
}

std::span<const std::byte> Packer::lines(std::span<const std::byte> chunk) {
    const std::size_t bytes = filter_png_lines(chunk, *picture_, filtered_);
    z_stream_s& stream = *zlib_;
    stream.next_in = reinterpret_cast<Bytef*>(filtered_.data());
    stream.avail_in = static_cast<uInt>(bytes);
    stream.next_out = reinterpret_cast<Bytef*>(packed_.data() + png_lines_head);
    stream.avail_out = static_cast<uInt>(packed_.size() - png_lines_head);
    // Ends on a byte, and nothing that follows refers to what is before; more may follow.
    const int result = ::deflate(&stream, Z_FULL_FLUSH);
    const std::size_t made = packed_.size() - png_lines_head - stream.avail_out;
    if (result != Z_OK || stream.avail_in != 0 || stream.avail_out == 0 ||
        deflateReset(&stream) != Z_OK) {
        throw Error(ExitCode::defect, {"cannot compress lines of a picture", "zlib",
                                       fmt::format("it returned {}", result), ""});
    }
    return std::span(packed_).first(finish_png_lines(made, packed_));
}

std::span<const std::byte> Packer::deflate(std::span<const std::byte> chunk) {
    isal_zstream stream{};
    isal_deflate_stateless_init(&stream);
    stream.gzip_flag = IGZIP_ZLIB;
    stream.level = isal_level(layout_.level);
    stream.level_buf = reinterpret_cast<std::uint8_t*>(workspace_.data());
    stream.level_buf_size = static_cast<std::uint32_t>(workspace_.size());
    stream.end_of_stream = 1;
    stream.flush = NO_FLUSH;
    // ISA-L does not write through this pointer; its type is an old one.
    stream.next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(chunk.data()));
    stream.avail_in = static_cast<std::uint32_t>(chunk.size());
    stream.next_out = reinterpret_cast<std::uint8_t*>(packed_.data());
    stream.avail_out = static_cast<std::uint32_t>(packed_.size());
    const int result = isal_deflate_stateless(&stream);
    if (result != COMP_OK || stream.avail_in != 0) {
        throw Error(ExitCode::defect, {"cannot compress a chunk", "ISA-L",
                                       fmt::format("it returned {}", result), ""});
    }
    return std::span(packed_).first(stream.total_out);
}

std::span<const std::byte> Packer::zstd(std::span<const std::byte> chunk) {
    const std::size_t bytes = ZSTD_compressCCtx(zstd_.get(), packed_.data(), packed_.size(),
                                                chunk.data(), chunk.size(), layout_.level);
    if (ZSTD_isError(bytes) != 0) {
        throw Error(ExitCode::defect,
                    {"cannot compress a chunk", "zstd", ZSTD_getErrorName(bytes), ""});
    }
    return std::span(packed_).first(bytes);
}

} // namespace runner
