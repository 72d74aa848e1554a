// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/png.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/own_file.hpp"

#include <limits>

#include <png.h>

namespace runner {
namespace {

[[noreturn]] void refuse(const std::string& file, const Picture& picture, const std::string& why) {
    throw Error(ExitCode::usage,
                {"cannot make the picture", file,
                 fmt::format("{} x {} pixels: {}", picture.width, picture.height, why),
                 "Ask for a smaller one"});
}

/// `file`: for errors.
std::vector<std::byte> encode(const std::string& file, const Picture& picture) {
    const auto bytes = static_cast<std::int64_t>(picture.pixels.size());
    if (picture.width < 1 || picture.height < 1 ||
        bytes >= std::numeric_limits<std::int32_t>::max() ||
        bytes != picture.width * picture.height * picture.channels) {
        refuse(file, picture, "no picture, or one of 2 GiB or more");
    }
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(picture.width);
    image.height = static_cast<png_uint_32>(picture.height);
    image.format = picture.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    png_alloc_size_t size = 0;
    std::vector<std::byte> memory;
    // Asked without memory it says how much it takes.
    for (int pass = 0; pass < 2; ++pass) {
        if (png_image_write_to_memory(&image, memory.empty() ? nullptr : memory.data(), &size, 0,
                                      picture.pixels.data(), 0, nullptr) == 0) {
            refuse(file, picture, image.message);
        }
        memory.resize(size);
    }
    return memory;
}

} // namespace

std::vector<std::byte> png_bytes(const Picture& picture) { return encode("", picture); }

void write_png(const std::string& file, const Picture& picture) {
    const std::vector<std::byte> bytes = encode(file, picture);
    replace_file(file, bytes);
}

} // namespace runner
