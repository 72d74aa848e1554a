// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct png_struct_def;
struct png_info_def;

namespace runner {

/// Red, green, blue.
using Colour = std::array<std::uint8_t, 3>;

/// What the pixels of a PNG are.
struct PngFormat {
    std::int64_t width = 0;
    std::int64_t height = 0;
    int channels = 1; ///< 1 grey, 3 colour, 4 with alpha
    /// Where it is not empty, one to four colours: each pixel is a number of them, 2 bits in the
    /// file, `channels` is 1 and `bits` 8.
    std::vector<Colour> palette;
    int bits = 8; ///< of each channel: 8, or 16 as native uint16
};

/// Writes a picture of any size line by line, with memory for a few of them.
class PngWriter {
  public:
    /// Makes the file, or replaces it. @throws Error: (output); (usage) for a size beyond PNG's
    /// 2^31 - 1.
    PngWriter(const std::string& file, const PngFormat& format);
    PngWriter(const PngWriter&) = delete;
    PngWriter& operator=(const PngWriter&) = delete;
    ~PngWriter();

    /// The next lines, from the top: lines × width × channels elements, none past the last. @throws
    /// Error (output).
    void write(const std::uint8_t* pixels, std::int64_t lines);

    /// After the last line: ends and closes the file. @throws Error (output).
    void finish();

  private:
    template <class Call> void guarded(const Call& call);
    void begin(const PngFormat& format);
    void flush();

    File file_;
    std::int64_t line_bytes_ = 0;
    std::int64_t lines_left_ = 0;
    std::int64_t written_ = 0;
    std::vector<std::byte> packed_; ///< of the file, not written yet
    std::string failure_;
    png_struct_def* png_ = nullptr;
    png_info_def* info_ = nullptr;
};

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

/// Writes the picture as PNG, with a mark for check_picture_name(); a file of that name is
/// replaced, and a power cut leaves one of the two. Below 2^31 bytes of pixels.
/// @throws Error (output) naming the file; (usage) for a picture that PNG or memory cannot hold.
void write_png(const std::string& file, const Picture& picture);

/// Refuses a file that would be lost: one that is there, holds something, and is no picture of
/// write_png(). @throws Error (output) naming it.
void check_picture_name(const std::string& file);

} // namespace runner
