// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/packer.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "io/filters/lz4.hpp"
#include "io/filters/page_codecs.hpp"
#include "io/filters/shuffle.hpp"
#include "io/filters/unpacker.hpp"
#include "io/filters/zstd.hpp"
#include "io/packings/packings.hpp"
#include "io/rows/written_format.hpp"

#include <algorithm>

#include <blosc.h>
#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>

namespace runner {
namespace {

constexpr std::size_t most_element_bytes = 16;

/// More than libdeflate takes for a compressor, at any of its levels up to 9.
constexpr std::int64_t compressor_bytes = MiB;

BitshufflePacking packing_of(Compression compression) {
    return compression == Compression::bitshuffle_zstd ? BitshufflePacking::zstd
                                                       : BitshufflePacking::lz4;
}

/// Room for what a chunk is packed to, whatever its elements.
std::size_t packed_bound(Compression compression, std::int64_t chunk_bytes) {
    const auto bytes = static_cast<std::size_t>(chunk_bytes);
    switch (compression) {
    case Compression::none: return 0;
    case Compression::deflate: return libdeflate_zlib_compress_bound(nullptr, bytes);
    case Compression::gzip: return libdeflate_gzip_compress_bound(nullptr, bytes);
    case Compression::blosc_lz4:
    case Compression::blosc_zstd: return bytes + BLOSC_MAX_OVERHEAD;
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

/// Room for lines that do not get smaller: zlib stores them in blocks, with five bytes for each.
std::int64_t lines_bound(std::int64_t chunk_bytes) {
    const std::int64_t bytes = filtered_bound(chunk_bytes);
    return bytes + 5 * (bytes / 65535 + 1) + 1024 + bytes / 1024 + png_lines_head;
}

std::unique_ptr<z_stream_s, int (*)(z_stream_s*)> new_zlib(int level) {
    constexpr int bare_window = -15; // without zlib's head and end
    constexpr int memory = 8;
    std::unique_ptr<z_stream_s, int (*)(z_stream_s*)> zlib(new z_stream_s(), end_zlib);
    if (deflateInit2(zlib.get(), level, Z_DEFLATED, bare_window, memory, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        throw out_of_host_memory("zlib");
    }
    return zlib;
}

/// Whether libdeflate packs it.
bool is_deflate(Compression compression) {
    return compression == Compression::deflate || compression == Compression::gzip;
}

} // namespace

Packer::Packer(const OutputLayout& layout, std::int64_t chunk_bytes, std::int64_t element_bytes)
    : layout_(layout), element_bytes_(element_bytes), deflate_(nullptr, libdeflate_free_compressor),
      zlib_(nullptr, end_zlib), zstd_(nullptr, ZSTD_freeCCtx) {
    if (layout.shuffle && element_bytes > 1 && !is_blosc(layout.compression)) {
        shuffled_.resize(static_cast<std::size_t>(chunk_bytes));
    }
    packed_.resize(packed_bound(layout.compression, chunk_bytes));
    if (is_deflate(layout.compression)) {
        deflate_.reset(libdeflate_alloc_compressor(layout.level));
        if (!deflate_) {
            throw out_of_host_memory("libdeflate");
        }
    }
    if (layout.compression == Compression::zstd ||
        layout.compression == Compression::bitshuffle_zstd) {
        zstd_.reset(ZSTD_createCCtx());
        if (!zstd_) {
            throw out_of_host_memory("zstd");
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
    if (is_deflate(layout.compression)) {
        bytes += compressor_bytes;
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
    if (is_blosc(layout.compression)) { // its blocks, and zstd's memory for its highest level
        bytes += 4 * static_cast<std::int64_t>(blosc_block_bytes);
    }
    if (layout.compression == Compression::blosc_zstd) {
        bytes += static_cast<std::int64_t>(
            ZSTD_estimateCCtxSize(layout.level >= 9 ? ZSTD_maxCLevel() : 2 * layout.level - 1));
    }
    return bytes;
}

std::span<const std::byte> Packer::pack(std::span<const std::byte> chunk) {
    const auto element = static_cast<std::size_t>(element_bytes_);
    if (!shuffled_.empty()) {
        shuffle(chunk, element, shuffled_.data());
        chunk = std::span(shuffled_).first(chunk.size());
    }
    if (picture_) {
        return lines(chunk);
    }
    switch (layout_.compression) {
    case Compression::deflate:
    case Compression::gzip: return deflate(chunk);
    case Compression::zstd: return zstd(chunk);
    case Compression::lzw: return std::span(packed_).first(pack_lzw(chunk, packed_));
    case Compression::lz4: return std::span(packed_).first(pack_lz4(chunk, packed_.data()));
    case Compression::bitshuffle_lz4:
    case Compression::bitshuffle_zstd:
        return std::span(packed_).first(pack_bitshuffle(
            chunk, element, {packing_of(layout_.compression), zstd_.get(), layout_.level},
            packed_.data(), memory_));
    case Compression::blosc_lz4:
    case Compression::blosc_zstd: return blosc(chunk);
    case Compression::none: break;
    }
    return chunk;
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
    // Not ISA-L, which packs the same chunk to other bytes now and then.
    const auto compress = layout_.compression == Compression::gzip ? libdeflate_gzip_compress
                                                                   : libdeflate_zlib_compress;
    const std::size_t bytes =
        compress(deflate_.get(), chunk.data(), chunk.size(), packed_.data(), packed_.size());
    if (bytes == 0) {
        throw Error(ExitCode::defect,
                    {"cannot compress a chunk", "libdeflate", "its room is too small", ""});
    }
    return std::span(packed_).first(bytes);
}

std::span<const std::byte> Packer::zstd(std::span<const std::byte> chunk) {
    return std::span(packed_).first(pack_zstd(chunk, packed_, *zstd_, layout_.level));
}

std::span<const std::byte> Packer::blosc(std::span<const std::byte> chunk) {
    const bool is_lz4 = layout_.compression == Compression::blosc_lz4;
    // One thread and blocks of one size: the same chunk has the same bytes everywhere.
    const int bytes = blosc_compress_ctx(
        layout_.level, layout_.shuffle ? BLOSC_SHUFFLE : BLOSC_NOSHUFFLE,
        static_cast<std::size_t>(element_bytes_), chunk.size(), chunk.data(), packed_.data(),
        packed_.size(), is_lz4 ? BLOSC_LZ4_COMPNAME : BLOSC_ZSTD_COMPNAME, blosc_block_bytes, 1);
    if (bytes <= 0) {
        throw Error(ExitCode::defect,
                    {"cannot compress a chunk", "blosc", fmt::format("it returned {}", bytes), ""});
    }
    return std::span(packed_).first(static_cast<std::size_t>(bytes));
}

} // namespace runner
