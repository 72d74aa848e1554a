// SPDX-License-Identifier: BSD-3-Clause
#include "io/tiff/tiff_image.hpp"

#include "base/error.hpp"
#include "io/rows/written_format.hpp"

#include <algorithm>
#include <limits>

namespace runner {

std::int64_t TiffImage::pages() const { return checked_product(leading); }

std::int64_t TiffImage::sample_bytes() const { return size_of(type); }

std::int64_t TiffImage::line_bytes() const { return width * samples * sample_bytes(); }

TiffImage tiff_image(const OutputDataset& output) {
    const ArrayInfo& array = output.array;
    const auto refuse = [](const std::string& what_of_it, const std::string& why,
                           const char* try_this) {
        throw Error(ExitCode::usage, {"cannot make a TIFF file", what_of_it, why, try_this});
    };
    if (!is_number(array.type)) {
        refuse(type_text(array), "it holds real numbers", "Make an HDF5 file");
    }
    TiffImage image{array.shape, 1, 1, 1, array.type};
    image.samples = samples_of_pixel(array, output.layout);
    if (image.samples > 1) {
        image.leading.pop_back();
    }
    if (image.leading.size() < 2) {
        refuse(shape_text(array.shape), "its pages are images of two axes, and there is one",
               "Make a .npy or HDF5 file");
    }
    image.width = image.leading.back();
    image.leading.pop_back();
    image.height = image.leading.back();
    image.leading.pop_back();
    if (std::max(image.width, image.height) > std::numeric_limits<std::uint32_t>::max()) {
        refuse(shape_text(array.shape), "the format has room for 2^32 - 1 pixels a side",
               "Make a .npy or HDF5 file");
    }
    return image;
}

} // namespace runner
