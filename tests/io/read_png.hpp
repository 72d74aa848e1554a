// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/formats/png_writer.hpp"

#include <stdexcept>
#include <string>

#include <png.h>

namespace runner {

/// Reads a PNG with the reading half of the library that writes it.
inline Picture read_png(const std::string& file) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_file(&image, file.c_str()) == 0) {
        throw std::runtime_error(image.message);
    }
    const bool grey = (image.format & PNG_FORMAT_FLAG_COLOR) == 0;
    image.format = grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    Picture picture{image.width, image.height, grey ? 1 : 3, {}};
    picture.pixels.resize(PNG_IMAGE_SIZE(image));
    if (png_image_finish_read(&image, nullptr, picture.pixels.data(), 0, nullptr) == 0) {
        throw std::runtime_error(image.message);
    }
    return picture;
}

} // namespace runner
