// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/png_file.hpp"

#include "base/error.hpp"
#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "io/files/file.hpp"
#include "io/filters/codec.hpp"
#include "io/filters/page_codecs.hpp"
#include "io/packings/png_picture.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace runner {
namespace {

constexpr std::int64_t around_data = 12; ///< length, name and checksum of a chunk
constexpr std::string_view data_name = "IDAT";
/// The last block of deflate's, which is empty, and the checksum of all lines behind it.
constexpr std::int64_t last_data = 9;

/// Big-endian numbers and names, one after the other.
class PngBytes {
  public:
    void add(std::uint32_t value, unsigned bytes = 4) {
        for (unsigned i = bytes; i-- > 0;) {
            bytes_.push_back(static_cast<std::byte>(value >> (8U * i)));
        }
    }
    void add(std::initializer_list<unsigned> bytes) {
        for (const unsigned byte : bytes) {
            add(byte, 1);
        }
    }
    void add_chunk(std::string_view name, const PngBytes& data) {
        add(static_cast<std::uint32_t>(data.bytes_.size()));
        const auto begin = bytes_.size();
        for (const char letter : name) {
            bytes_.push_back(static_cast<std::byte>(letter));
        }
        bytes_.insert(bytes_.end(), data.bytes_.begin(), data.bytes_.end());
        add(png_checksum(std::span(bytes_).subspan(begin)));
    }
    std::span<const std::byte> get() const { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
};

[[noreturn]] void refuse(const std::string& of, const std::string& why,
                         const std::string& try_this) {
    throw Error(ExitCode::usage, {"cannot make a PNG file", of, why, try_this});
}

/// The picture that an array is.
PngPicture picture_of(const ArrayInfo& array, const OutputLayout& layout) {
    const std::vector<std::int64_t>& shape = array.shape;
    const bool bytes = array.type == ElementType::uint8;
    const std::int64_t channels = samples_of_pixel(array, layout);
    if (!bytes && array.type != ElementType::uint16) {
        refuse(type_text(array), "it holds uint8 or uint16",
               "Make it one of these by kind rescale with output.dtype, or end the name in .tif, "
               ".npy or .h5");
    }
    if (shape.size() != (channels > 1 ? 3U : 2U)) {
        refuse(
            shape_text(shape), "it holds one image: two axes, and a third of colour",
            std::string(shape.size() == 3 && may_be_colour(shape)
                            ? "If the last axis is colour, write input.colour = true, or "
                              "name it s in input.axes. "
                            : "") +
                "For a PNG of each frame name the output as in frame_%04d.png; or end the name in "
                ".tif, .npy or .h5");
    }
    constexpr std::int64_t most_pixels = 0x7fffffff;
    if (std::max(shape[0], shape[1]) > most_pixels ||
        shape[1] * channels * size_of(array.type) > GiB) {
        refuse(shape_text(shape), "it has room for 2^31 - 1 lines of up to 1 GiB",
               "End the name in .tif, .npy or .h5");
    }
    return {static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1] * channels),
            bytes ? 8U : 16U, static_cast<unsigned>(channels)};
}

PngPicture picture_of(const OutputDataset& output) {
    return picture_of(output.array, output.layout);
}

/// Lines of a strip; one of colour, so that it is whole rows.
std::int64_t strip_lines(const PngPicture& picture) {
    constexpr std::int64_t strip_bytes = 256 * KiB;
    const auto line = static_cast<std::int64_t>(picture.packed_line());
    return picture.channels > 1 ? 1 : std::max<std::int64_t>(1, strip_bytes / line);
}

std::int64_t strips_of(const PngPicture& picture) {
    return ceil_divide(static_cast<std::int64_t>(picture.lines), strip_lines(picture));
}

/// All before the first strip: what the picture is, and the head of a zlib stream.
PngBytes head_of(const PngPicture& picture) {
    constexpr unsigned grey = 0;
    constexpr unsigned red_green_blue = 2;
    constexpr unsigned with_alpha = 6;
    PngBytes header;
    header.add(static_cast<std::uint32_t>(picture.samples / picture.channels));
    header.add(static_cast<std::uint32_t>(picture.lines));
    const unsigned kind = picture.channels == 4   ? with_alpha
                          : picture.channels == 3 ? red_green_blue
                                                  : grey;
    header.add({picture.bits, kind, 0, 0, 0});
    PngBytes stream;
    stream.add({0x78, 0x01});
    PngBytes head;
    head.add({0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'});
    head.add_chunk("IHDR", header);
    head.add_chunk(data_name, stream);
    return head;
}

/// All behind the last strip.
PngBytes tail_of(std::uint32_t checksum) {
    PngBytes last;
    last.add({0x01, 0x00, 0x00, 0xff, 0xff});
    last.add(checksum);
    PngBytes tail;
    tail.add_chunk(data_name, last);
    tail.add_chunk("IEND", {});
    return tail;
}

std::uint32_t number_at(const File& file, std::int64_t at) {
    std::array<std::byte, 4> bytes{};
    file.read(at, std::ssize(bytes), bytes.data());
    std::uint32_t value = 0;
    for (const std::byte byte : bytes) {
        value = value << 8U | std::to_integer<std::uint32_t>(byte);
    }
    return value;
}

/// The checksum of all lines, of the strips in the file. Nothing where one is damaged, which the
/// rows' own checksums tell of.
std::optional<std::uint32_t> checksum_of(const File& file, PngPicture picture, std::int64_t at,
                                         std::span<const std::int64_t> sizes) {
    picture.lines = static_cast<std::size_t>(strip_lines(picture));
    std::vector<std::byte> packed;
    std::vector<std::byte> lines(picture.scratch_bytes());
    std::uint32_t sum = 1;
    for (const std::int64_t bytes : sizes) {
        packed.resize(static_cast<std::size_t>(bytes));
        file.read(at, bytes, packed.data());
        const std::optional<std::size_t> count = inflate_png_lines(packed, picture, lines);
        if (!count) {
            return std::nullopt;
        }
        sum = adler32(sum, std::span<const std::byte>(lines).first(*count));
        at += bytes;
    }
    return sum;
}

} // namespace

DataPlace place_png(const OutputDataset& output) {
    const std::int64_t begin = std::ssize(head_of(picture_of(output)).get());
    const std::int64_t bytes = byte_count(output.array);
    return {begin, bytes, begin + bytes + std::ssize(tail_of(0).get())};
}

std::vector<std::int64_t> png_chunk(const ArrayInfo& array, const OutputLayout& layout) {
    std::vector<std::int64_t> chunk = array.shape;
    chunk.front() = strip_lines(picture_of(array, layout));
    return chunk;
}

void make_png_structure(const OutputDataset& output, std::span<const std::int64_t> sizes,
                        const StructurePiece& piece) {
    const PngPicture picture = picture_of(output);
    const PngBytes head = head_of(picture);
    std::int64_t end = std::ssize(head.get());
    const File file(output.file, File::Mode::read);
    const std::optional<std::uint32_t> checksum = checksum_of(file, picture, end, sizes);
    piece(0, head.get());
    for (const std::int64_t bytes : sizes) {
        end += bytes;
    }
    const std::int64_t stored_at = end + around_data - 4 + last_data - 4;
    piece(end, tail_of(checksum ? *checksum : number_at(file, stored_at)).get());
}

std::vector<std::int64_t> png_strip_sizes(const OutputDataset& output) {
    const PngPicture picture = picture_of(output);
    const File file(output.file, File::Mode::read);
    std::int64_t at = std::ssize(head_of(picture).get());
    const std::int64_t end = file.size() - std::ssize(tail_of(0).get());
    std::vector<std::int64_t> sizes;
    for (std::int64_t strip = 0; strip < strips_of(picture); ++strip) {
        if (at > end - around_data) {
            refuse_structure_byte(file.path(), at);
        }
        const std::int64_t bytes = around_data + std::int64_t{number_at(file, at)};
        if (bytes > end - at) {
            refuse_structure_byte(file.path(), at);
        }
        sizes.push_back(bytes);
        at += bytes;
    }
    return sizes;
}

Filter png_filter(const ArrayInfo& array, const OutputLayout& layout) {
    return {filter_id::png_lines, "", line_parameters(picture_of(array, layout))};
}

} // namespace runner
