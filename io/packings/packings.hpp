// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace runner {

/// The most bytes that one byte can become when it is unpacked, by the formats' own limits.
namespace highest_ratio {

/// A match of 258 bytes takes two bits.
inline constexpr std::int64_t deflate = std::int64_t{258} * 8 / 2;
/// A run of 128 bytes takes two.
inline constexpr std::int64_t packbits = 128 / 2;
/// TIFF's: a code of 9 bits or more stands for less than 4096 bytes.
inline constexpr std::int64_t lzw = std::int64_t{4096} * 8 / 9 + 1;
/// A block of 128 KiB takes four bytes where all of its bytes are alike.
inline constexpr std::int64_t zstd = (std::int64_t{128} << 10) / 4;
/// LZMA2's: a chunk of 2 MiB takes a head of 6 bytes and 5 of its coder.
inline constexpr std::int64_t lzma = (std::int64_t{2} << 20) / 11;
/// A block of 64 elements takes a bit, and its elements are spread over 4 × 4 at most, of 2 bytes.
inline constexpr std::int64_t jpeg = std::int64_t{64} * 8 * 16 * 2;

} // namespace highest_ratio

/// What a file says that it holds.
struct DeclaredBytes {
    std::int64_t unpacked = 0; ///< of what it holds
    std::int64_t stored = 0;   ///< of the file, or of its packed part
    std::int64_t ratio = 1;    ///< one of highest_ratio
    std::string packing;       ///< for the message: "deflate"
};

/// @throws Error (input), with `what` could not be done and the numbers, where the file cannot hold
/// what it declares, so that nobody takes memory or time for it.
void check_declared_bytes(const DeclaredBytes& declared, const std::string& what,
                          const std::string& file);

/// Unpacks Apple's PackBits: a byte n below 128 stands before n + 1 literal bytes, one above 128
/// before a byte that is repeated 257 - n times; 128 means nothing. Each line of `line` bytes is
/// packed by itself; 0: they are not. Ends when `to` is full. Returns how many bytes that were;
/// nothing where the bytes end within a run or a run passes the end of its line.
std::optional<std::size_t> unpack_packbits(std::span<const std::byte> packed, std::size_t line,
                                           std::span<std::byte> to);

/// Unpacks TIFF's LZW: codes of 9 to 12 bits, the highest bit first, 256 to empty the table and 257
/// at the end; a code gets longer one entry before the table needs it. Ends when `to` is full too.
/// Returns how many bytes that were; nothing where the codes are damaged or are those of libtiff's
/// first versions (see is_early_lzw()).
std::optional<std::size_t> unpack_lzw(std::span<const std::byte> packed, std::span<std::byte> to);

/// Room for what so many bytes are packed to.
std::size_t lzw_bound(std::size_t bytes);

/// Packs into the front of `to`, which has at least lzw_bound() bytes, and returns how many bytes
/// that were.
std::size_t pack_lzw(std::span<const std::byte> from, std::span<std::byte> to);

/// Whether the stream begins as libtiff wrote it before 1990: codes with the lowest bit first.
bool is_early_lzw(std::span<const std::byte> packed);

/// Lines of elements that TIFF stores as differences.
struct PredictedLines {
    std::size_t elements = 0; ///< of a line
    std::size_t size = 1;     ///< of an element: 1, 2, 4 or 8 bytes
    std::size_t samples = 1;  ///< elements of a pixel
    bool big_endian = false;  ///< of the elements before and after

    std::size_t bytes() const { return elements * size; }
};

/// Adds to each element that of the pixel before in its line (TIFF's predictor 2), in place.
/// `bytes`: whole lines.
void add_differences(std::span<std::byte> bytes, const PredictedLines& lines);

/// Makes floating-point numbers of what TIFF's predictor 3 stores: of a line, first the highest
/// bytes of all elements, then the next, each the difference from the byte before. `packed`: whole
/// lines; `to`: of the same size.
void join_float_bytes(std::span<const std::byte> packed, const PredictedLines& lines,
                      std::span<std::byte> to);

} // namespace runner
