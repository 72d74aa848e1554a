// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// A .sand file: a header of 16 bytes ("SAND", then width, height and frame count as little-endian
/// int32), then frame after frame. A frame is its cells row by row, four to a byte, the first in
/// the two lowest bits; rows are not padded, a frame's last byte has zeros beyond its cells.
inline constexpr std::int64_t sand_header_bytes = 16;

/// How many frames of which size; every number ≥ 1.
struct SandShape {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::int64_t frames = 0;

    std::int64_t frame_cells() const { return width * height; }
    std::int64_t frame_bytes() const { return (frame_cells() + 3) / 4; }
    std::int64_t file_bytes() const { return sand_header_bytes + frames * frame_bytes(); }

    bool operator==(const SandShape&) const = default;
};

/// The shape of an array of cells, [frames..., height, width], as a .sand file can hold it.
/// @throws Error (usage) for elements other than uint8, for one axis only, and for a width, height
/// or number of frames that int32 cannot hold.
SandShape sand_shape(const ArrayInfo& array);

std::array<std::byte, sand_header_bytes> sand_header(const SandShape& shape);

/// What a .sand file says of itself.
struct SandContent {
    SandShape shape; ///< with the frames that are there, whatever the header counts
    /// For people, what is wrong and no hindrance: the header's count, where it is another.
    std::vector<std::string> notes;
};

/// Reads a header. `head` holds the first 16 bytes of the file, or all of a shorter one, `bytes` is
/// the file's length, `file` its name for messages. The elements of an accepted file are countable
/// in 63 bits. @throws Error (input) naming the byte.
SandContent parse_sand(std::span<const std::byte> head, std::int64_t bytes,
                       const std::string& file);

/// The same of a file. @throws Error (input), also when it is no regular file.
SandContent read_sand(const std::string& file);

} // namespace runner
