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

} // namespace runner
