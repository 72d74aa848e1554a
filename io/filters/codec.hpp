// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/output_layout.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct ZSTD_DCtx_s;

namespace runner {

/// Filters by the numbers that HDF5's registry gives them.
namespace filter_id {

inline constexpr int deflate = 1;
inline constexpr int shuffle = 2;
inline constexpr int fletcher32 = 3;
inline constexpr int szip = 4;
inline constexpr int bzip2 = 307;
inline constexpr int lzf = 32000;
inline constexpr int blosc = 32001;
inline constexpr int lz4 = 32004;
inline constexpr int bitshuffle = 32008;
inline constexpr int zstd = 32015;

/// Filters of TIFF and PNG files alone: beyond the 16 bits that HDF5 has for a number.
inline constexpr int lzw = 1 << 16;
inline constexpr int packbits = lzw + 1;
inline constexpr int differences = lzw + 2;
inline constexpr int float_differences = lzw + 3;
inline constexpr int png = lzw + 4;

/// Filters of Zarr arrays alone.
inline constexpr int gzip = lzw + 5;
inline constexpr int sized_lz4 = lzw + 6;
inline constexpr int transpose = lzw + 7;
inline constexpr int crc32c = lzw + 8;

/// A filter of PNG files that are written: lines of a picture as one chunk of the file.
inline constexpr int png_lines = lzw + 9;

/// Zarr's forms of filters that HDF5 has too: nothing may follow what they unpack.
inline constexpr int zlib = lzw + 10;
inline constexpr int bzip2_streams = lzw + 11;
inline constexpr int whole_blosc = lzw + 12;

} // namespace filter_id

using Bytes = std::span<const std::byte>;
using Parameters = std::span<const unsigned>; ///< of a filter, as the file stores them

/// What decoders keep from one chunk to the next. One for each thread.
class CodecMemory {
  public:
    CodecMemory();

    /// At least so many bytes, with any content; valid until the next call.
    std::byte* scratch(std::size_t bytes);

    /// A context to unpack zstd with. @throws Error (launch) without memory.
    ZSTD_DCtx_s* zstd();

  private:
    std::vector<std::byte> scratch_;
    std::unique_ptr<ZSTD_DCtx_s, std::size_t (*)(ZSTD_DCtx_s*)> zstd_;
};

/// How one filter's bytes are unpacked. The bytes may be damaged or hostile: no decoder reads
/// beyond `packed` or writes beyond `to`, and each takes memory in proportion to `to` at most.
struct Codec {
    int id;           ///< as HDF5 registers it, or one of our own
    const char* name; ///< for people

    /// Whether a file can have these parameters.
    bool (*accepts)(Parameters parameters);

    /// The size that the packed bytes claim to unpack to; nothing where they do not say, or are
    /// damaged.
    std::optional<std::size_t> (*claimed)(Parameters parameters, Bytes packed);

    /// Unpacks into the front of `to` and returns how many bytes that were; nothing where the
    /// packed bytes are damaged or `to` is too small. `parameters`: accepted ones.
    std::optional<std::size_t> (*unpack)(Parameters parameters, Bytes packed,
                                         std::span<std::byte> to, CodecMemory& memory);
};

/// Every filter that is unpacked here, but the checksums fletcher32 and crc32c, which pack nothing.
std::span<const Codec> codecs();

/// The one with this id; null where there is none.
const Codec* codec_of(int id);

/// The name that HDF5's registry has for a filter; empty where it is not known here.
std::string registered_name(int id);

/// A filter as people know it: "deflate(4)", "bitshuffle with LZ4, blocks of 8.00 KiB", "32013
/// (zfp)".
std::string filter_text(const Filter& filter);

} // namespace runner
