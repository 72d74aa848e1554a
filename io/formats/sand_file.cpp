// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/sand_file.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/file.hpp"
#include "io/files/input_rules.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

namespace runner {
namespace {

constexpr const char* what_sand = "cannot read the .sand file";
constexpr const char* get_sand_again = "Get it again from where it was made";
constexpr std::string_view sand_magic = "SAND";
constexpr std::int64_t width_at = 4;
constexpr std::int64_t height_at = 8;
constexpr std::int64_t count_at = 12;
constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

std::string at_byte(const std::string& file, std::int64_t byte) {
    return fmt::format("{}, byte {}", file, byte);
}

[[noreturn]] void refuse_sand(const std::string& file, std::int64_t byte, const std::string& why,
                              const std::string& try_this) {
    throw Error(ExitCode::input, {what_sand, at_byte(file, byte), why, try_this});
}

std::string counted(std::int64_t count, const std::string& thing) {
    return fmt::format("{} {}{}", count, thing, (count == 1 ? "" : "s"));
}

/// Bytes as text where they are letters, digits and the like, others as \xNN.
std::string shown(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string shown;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if (byte >= 0x20 && byte < 0x7F) {
            shown += letter;
        } else {
            shown += {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
        }
    }
    return shown;
}

void check_magic(std::span<const std::byte> head, const std::string& file) {
    const std::string_view text(reinterpret_cast<const char*>(head.data()),
                                std::min(head.size(), sand_magic.size()));
    if (!sand_magic.starts_with(text)) {
        refuse_sand(file, 0,
                    "it begins with \"" + shown(text) + "\", and a .sand file with \"SAND\"",
                    "Name a .sand file, or give this one the ending of what it is, as .h5");
    }
    if (std::ssize(head) < sand_header_bytes) {
        refuse_sand(file, std::ssize(head),
                    head.empty() ? "it is empty" : "it ends there, within its header of 16 bytes",
                    get_sand_again);
    }
}

std::int64_t integer_at(std::span<const std::byte> head, std::int64_t at) {
    std::uint32_t value = 0;
    for (std::int64_t i = 3; i >= 0; --i) {
        value =
            value << 8U | std::to_integer<std::uint32_t>(head[static_cast<std::size_t>(at + i)]);
    }
    return static_cast<std::int32_t>(value);
}

std::int64_t extent_at(std::span<const std::byte> head, std::int64_t at, const std::string& name,
                       const std::string& file) {
    const std::int64_t extent = integer_at(head, at);
    if (extent < 1) {
        refuse_sand(file, at, fmt::format("the {} is {}, and must be 1 or more", name, extent),
                    get_sand_again);
    }
    return extent;
}

/// How many whole frames the bytes after the header are.
std::int64_t frames_in(const SandShape& shape, std::int64_t bytes, const std::string& file) {
    const std::int64_t data = bytes - sand_header_bytes;
    const std::int64_t frames = data / shape.frame_bytes();
    const std::int64_t rest = data % shape.frame_bytes();
    if (frames == 0 || rest != 0) {
        refuse_sand(
            file, bytes - rest,
            fmt::format(
                "a frame of {} x {} cells takes {}, and {}{}{}", shape.width, shape.height,
                counted(shape.frame_bytes(), "byte"),
                (frames == 0 ? "after the header " : "after " + counted(frames, "frame") + " "),
                (rest == 1 ? "there is " : "there are "),
                (rest == 0 ? "none" : std::to_string(rest))),
            "If it is still being written or copied, wait for that; else get it again from where "
            "it was made");
    }
    if (frames > std::numeric_limits<std::int64_t>::max() / shape.frame_cells()) {
        refuse_sand(file, sand_header_bytes, "its cells are more than 2^63 - 1", get_sand_again);
    }
    return frames;
}

void check_extent(const ArrayInfo& array, const std::string& name, std::int64_t extent) {
    if (extent < 1 || extent > most) {
        throw Error(
            ExitCode::usage,
            {"cannot make a .sand file of such frames", shape_text(array.shape),
             fmt::format("the {} is {}, and the format has room for 1 to {}", name, extent, most),
             "Make an HDF5 file: give the output a name that ends in .h5"});
    }
}

} // namespace

SandShape sand_shape(const ArrayInfo& array) {
    if (array.type != ElementType::uint8 || array.shape.size() < 2) {
        throw Error(ExitCode::usage,
                    {"cannot make a .sand file",
                     std::string(name_of(array.type)) + " " + shape_text(array.shape),
                     "it holds frames of cells, each a uint8",
                     "Give the output a name that ends in .h5"});
    }
    const std::span<const std::int64_t> shape = array.shape;
    const SandShape sand{shape.back(), shape[shape.size() - 2],
                         checked_product(shape.first(shape.size() - 2))};
    check_extent(array, "width", sand.width);
    check_extent(array, "height", sand.height);
    check_extent(array, "number of frames", sand.frames);
    (void)byte_count(array);
    return sand;
}

std::array<std::byte, sand_header_bytes> sand_header(const SandShape& shape) {
    std::array<std::byte, sand_header_bytes> header{};
    std::transform(sand_magic.begin(), sand_magic.end(), header.begin(),
                   [](char letter) { return static_cast<std::byte>(letter); });
    std::size_t at = sand_magic.size();
    for (const std::int64_t number : {shape.width, shape.height, shape.frames}) {
        for (int shift = 0; shift < 32; shift += 8) {
            header[at++] = static_cast<std::byte>(number >> shift);
        }
    }
    return header;
}

SandContent parse_sand(std::span<const std::byte> head, std::int64_t bytes,
                       const std::string& file) {
    check_magic(head, file);
    SandContent content;
    content.shape.width = extent_at(head, width_at, "width", file);
    content.shape.height = extent_at(head, height_at, "height", file);
    content.shape.frames = frames_in(content.shape, bytes, file);
    if (const std::int64_t said = integer_at(head, count_at); said != content.shape.frames) {
        content.notes.push_back(format_error(
            {"the header's number of frames is wrong", at_byte(file, count_at),
             fmt::format("it says {} and the file's length {}", said, content.shape.frames),
             "All that are there are taken"}));
    }
    return content;
}

SandContent read_sand(const std::string& file) {
    check_regular_file(file, what_sand);
    const File opened(file, File::Mode::read);
    std::array<std::byte, sand_header_bytes> head{};
    const std::int64_t bytes = opened.size();
    const std::int64_t count = std::min(bytes, sand_header_bytes);
    opened.read(0, count, head.data());
    return parse_sand(std::span(head).first(static_cast<std::size_t>(count)), bytes, file);
}

} // namespace runner
