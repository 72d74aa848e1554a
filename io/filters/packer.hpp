// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/filters/codec.hpp"
#include "io/packings/png_picture.hpp"
#include "io/rows/output_layout.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

struct ZSTD_CCtx_s;
struct libdeflate_compressor;
struct z_stream_s;

namespace runner {

/// The blocks of a blosc chunk; the library may choose others in another version.
inline constexpr std::size_t blosc_block_bytes = std::size_t{256} << 10;

/// Packs chunks as the filters of an output layout store them: to bytes that depend on the chunk
/// and the layout alone. One for each thread.
class Packer {
  public:
    /// `chunk_bytes`: the most that pack() will be given, below 4 GiB. `element_bytes`: at most
    /// 16. @throws Error (launch) without memory.
    Packer(const OutputLayout& layout, std::int64_t chunk_bytes, std::int64_t element_bytes);

    /// The same of chunks of an output's array, also where its format has a filter of its own.
    Packer(const OutputLayout& layout, std::int64_t chunk_bytes, const ArrayInfo& array);

    /// Memory that one takes.
    static std::int64_t memory(const OutputLayout& layout, std::int64_t chunk_bytes);

    /// The packed chunk; valid until the next call. Without compression that is `chunk`.
    std::span<const std::byte> pack(std::span<const std::byte> chunk);

  private:
    std::span<const std::byte> deflate(std::span<const std::byte> chunk);
    std::span<const std::byte> zstd(std::span<const std::byte> chunk);
    std::span<const std::byte> lines(std::span<const std::byte> chunk);
    std::span<const std::byte> blosc(std::span<const std::byte> chunk);

    OutputLayout layout_;
    std::int64_t element_bytes_;
    std::vector<std::byte> shuffled_;
    std::vector<std::byte> packed_;
    std::vector<std::byte> filtered_;   ///< lines of a picture
    std::optional<PngPicture> picture_; ///< whose lines are packed for a PNG file
    CodecMemory memory_;                ///< for bitshuffle
    std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> deflate_;
    std::unique_ptr<z_stream_s, int (*)(z_stream_s*)> zlib_; ///< where picture_ is known
    std::unique_ptr<ZSTD_CCtx_s, std::size_t (*)(ZSTD_CCtx_s*)> zstd_;
};

} // namespace runner
