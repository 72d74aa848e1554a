// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// A picture of 8-bit grey values or of red, green and blue ones.
struct Picture {
    std::int64_t width = 0;
    std::int64_t height = 0;
    int channels = 1; ///< 1 or 3
    /// height × width × channels, row by row from the top.
    std::vector<std::uint8_t> pixels;
};

/// The picture as a PNG. Below 2^31 bytes of pixels. @throws Error (usage) for a picture that PNG
/// or memory cannot hold.
std::vector<std::byte> png_bytes(const Picture& picture);

/// Writes the picture as PNG; a file of that name is replaced. Below 2^31 bytes of pixels.
/// @throws Error (output) naming the file; (usage) for a picture that PNG or memory cannot hold.
void write_png(const std::string& file, const Picture& picture);

} // namespace runner
