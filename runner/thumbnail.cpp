// SPDX-License-Identifier: BSD-3-Clause
#include "runner/thumbnail.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "io/row_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// How a dataset is an image.
struct ImageShape {
    std::int64_t frames = 1;
    std::int64_t height = 1;
    std::int64_t width = 1;
    int channels = 1;

    /// The reader's rows that one line of the image is: a colour pixel is a row of its own there.
    std::int64_t rows_per_line() const { return channels == 1 ? 1 : width; }
    std::int64_t line_elements() const { return width * channels; }
};

ImageShape image_shape(const ArrayInfo& array, const std::string& where) {
    std::vector<std::int64_t> shape = array.shape;
    ImageShape image;
    if (array.type == ElementType::uint8 && shape.size() >= 3 && shape.back() == 3) {
        image.channels = 3;
        shape.pop_back();
    }
    if (shape.size() < 2) {
        throw Error(ExitCode::input, {"cannot make a picture of the dataset", where,
                                      "its shape " + shape_text(shape) + " has one axis only",
                                      "Name a dataset of two axes or more"});
    }
    image.width = shape.back();
    shape.pop_back();
    image.height = shape.back();
    shape.pop_back();
    image.frames = checked_product(shape);
    return image;
}

/// Sums of the finite elements that fall into each box, and how many they are.
class Boxes {
  public:
    Boxes(const ImageShape& image, std::int64_t width, std::int64_t height)
        : image_(image), width_(width), height_(height),
          sums_(static_cast<std::size_t>(width * height * image.channels)), counts_(sums_.size()) {}

    /// Adds lines [first, first + lines) of the image. Box columns in parallel, each of which adds
    /// up its elements in order: the same averages on any number of threads.
    template <class T> void add(const T* elements, std::int64_t first, std::int64_t lines) {
        constexpr std::int64_t columns_at_once = 32;
        const std::int64_t groups = (width_ + columns_at_once - 1) / columns_at_once;
        tbb::parallel_for(std::int64_t{0}, groups, [&](std::int64_t group) {
            for (std::int64_t line = 0; line < lines; ++line) {
                const std::int64_t y = box_of(first + line, height_, image_.height);
                const std::int64_t end = std::min(width_, (group + 1) * columns_at_once);
                for (std::int64_t x = group * columns_at_once; x < end; ++x) {
                    add_run(elements + line * image_.line_elements(), x, y);
                }
            }
        });
    }

    /// The averages.
    std::vector<double> values() const {
        std::vector<double> values(sums_.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = counts_[i] > 0 ? sums_[i] / static_cast<double>(counts_[i])
                                       : std::numeric_limits<double>::quiet_NaN();
        }
        return values;
    }

  private:
    /// Box b takes what lies from floor(b · all / boxes) up to the next box's first.
    static std::int64_t first_of(std::int64_t box, std::int64_t boxes, std::int64_t all) {
        __extension__ using Wide = __int128;
        return static_cast<std::int64_t>(static_cast<Wide>(box) * all / boxes);
    }
    static std::int64_t box_of(std::int64_t at, std::int64_t boxes, std::int64_t all) {
        __extension__ using Wide = __int128;
        return static_cast<std::int64_t>((static_cast<Wide>(at + 1) * boxes - 1) / all);
    }

    template <class T> void add_run(const T* line, std::int64_t x, std::int64_t y) {
        const std::int64_t end = first_of(x + 1, width_, image_.width);
        for (int channel = 0; channel < image_.channels; ++channel) {
            double sum = 0;
            std::int64_t count = 0;
            for (std::int64_t at = first_of(x, width_, image_.width); at < end; ++at) {
                const auto value = static_cast<double>(line[at * image_.channels + channel]);
                if (std::isfinite(value)) {
                    sum += value;
                    ++count;
                }
            }
            const auto box = static_cast<std::size_t>((y * width_ + x) * image_.channels + channel);
            sums_[box] += sum;
            counts_[box] += count;
        }
    }

    ImageShape image_;
    std::int64_t width_;
    std::int64_t height_;
    std::vector<double> sums_;
    std::vector<std::int64_t> counts_;
};

/// Every value a square of `times` × `times`.
std::vector<double> repeat(const std::vector<double>& values, const ImageShape& image,
                           std::int64_t times) {
    std::vector<double> larger;
    larger.reserve(values.size() * static_cast<std::size_t>(times * times));
    for (std::int64_t y = 0; y < image.height * times; ++y) {
        for (std::int64_t x = 0; x < image.width * times; ++x) {
            const auto pixel =
                values.begin() + (y / times * image.width + x / times) * image.channels;
            larger.insert(larger.end(), pixel, pixel + image.channels);
        }
    }
    return larger;
}

} // namespace

Thumbnail make_thumbnail(RowReader& reader, const std::string& where, std::int64_t frame,
                         std::int64_t size) {
    constexpr std::int64_t memory = 64 * MiB;
    const ArrayInfo& array = reader.info().array;
    const ImageShape image = image_shape(array, where);
    if (frame < 0 || frame >= image.frames) {
        throw Error(ExitCode::usage,
                    {"cannot make a picture of frame " + std::to_string(frame), where,
                     "the dataset has " + std::to_string(image.frames) +
                         (image.frames == 1 ? " frame" : " frames, from 0"),
                     "Choose another with --frame"});
    }
    const std::int64_t longest = std::max(image.width, image.height);
    const double scale = std::min(1.0, static_cast<double>(size) / static_cast<double>(longest));
    const auto scaled = [&](std::int64_t extent) {
        return std::max<std::int64_t>(1, std::llround(static_cast<double>(extent) * scale));
    };
    Boxes boxes(image, scaled(image.width), scaled(image.height));
    const std::int64_t line_bytes = image.line_elements() * size_of(array.type);
    const std::int64_t step = std::clamp<std::int64_t>(memory / line_bytes, 1, image.height);
    std::vector<std::byte> lines(static_cast<std::size_t>(step * line_bytes));
    for (std::int64_t first = 0; first < image.height; first += step) {
        const std::int64_t count = std::min(step, image.height - first);
        reader.read((frame * image.height + first) * image.rows_per_line(),
                    count * image.rows_per_line(), lines.data());
        visit_element_type(array.type, [&](auto zero) {
            using T = decltype(zero);
            boxes.add(reinterpret_cast<const T*>(lines.data()), first, count);
        });
    }
    Thumbnail thumbnail{scaled(image.width), scaled(image.height), image.channels,
                        array.type == ElementType::uint8, boxes.values()};
    if (const std::int64_t times = size / longest; times > 1) {
        thumbnail.values = repeat(thumbnail.values, image, times);
        thumbnail.width *= times;
        thumbnail.height *= times;
    }
    return thumbnail;
}

} // namespace runner
