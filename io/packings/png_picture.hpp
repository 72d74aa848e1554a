// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace runner {

/// A picture of a PNG that is not interlaced.
struct PngPicture {
    std::size_t lines = 0;
    std::size_t samples = 0; ///< of a line, all channels
    unsigned bits = 8;       ///< of a sample: 1, 2, 4, 8 or 16
    unsigned channels = 1;

    /// The bytes of a line as it is packed, without the byte before it that names its filter.
    std::size_t packed_line() const { return (samples * bits + 7) / 8; }
    /// Bytes of an element: fewer bits than 8 become a byte.
    std::size_t element_bytes() const { return bits == 16 ? 2 : 1; }
    std::size_t bytes() const { return lines * samples * element_bytes(); }
    /// The bytes of what unpack_png() works in.
    std::size_t scratch_bytes() const { return lines * (packed_line() + 1); }
};

/// Unpacks the IDAT chunks of a PNG, which follow one another in `chunks` with their lengths, names
/// and checksums, into samples as this machine has them. `scratch`: picture.scratch_bytes() or
/// more; `to`: picture.bytes(). False where a checksum, a length or a filter is wrong.
bool unpack_png(std::span<const std::byte> chunks, const PngPicture& picture,
                std::span<std::byte> scratch, std::span<std::byte> to);

/// Filters whole lines of samples, as this machine has them, into `to`: a byte that names the
/// filter before each. The first line refers to none before it. Returns how many bytes those are:
/// picture.packed_line() + 1 a line. `picture`: of 8 or 16 bits; its lines are not looked at.
std::size_t filter_png_lines(std::span<const std::byte> samples, const PngPicture& picture,
                             std::span<std::byte> to);

/// Bytes of a chunk of a PNG before its data.
inline constexpr std::int64_t png_lines_head = 8;

/// Makes an IDAT chunk of `bytes` that stand behind png_lines_head of `chunk`, which has room for a
/// checksum behind them. Returns the bytes of the whole.
std::size_t finish_png_lines(std::size_t bytes, std::span<std::byte> chunk);

/// Undoes both for one such chunk, whose data are deflate's and not its last: any number of whole
/// lines, picture.lines at most. `scratch` and `to` as for unpack_png(). Returns the bytes of the
/// samples; nothing where a checksum, a length or a filter is wrong.
std::optional<std::size_t> unpack_png_lines(std::span<const std::byte> chunk,
                                            const PngPicture& picture, std::span<std::byte> scratch,
                                            std::span<std::byte> to);

/// The same without undoing the filters: the bytes of the lines in `scratch`.
std::optional<std::size_t> inflate_png_lines(std::span<const std::byte> chunk,
                                             const PngPicture& picture,
                                             std::span<std::byte> scratch);

/// Adler's checksum, as a zlib stream ends with; of `bytes` that follow those of `before`.
std::uint32_t adler32(std::uint32_t before, std::span<const std::byte> bytes);

/// The checksum of a chunk of a PNG: of its name and its data.
std::uint32_t png_checksum(std::span<const std::byte> bytes);

} // namespace runner
