// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
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

} // namespace runner
