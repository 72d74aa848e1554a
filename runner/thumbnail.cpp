// SPDX-License-Identifier: BSD-3-Clause
#include "runner/thumbnail.hpp"

#include "base/sizes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

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

/// Reads lines of a frame, in the colours that they are shown in.
class LineReader {
  public:
    LineReader(const ImageSource& source, std::int64_t frame, std::int64_t memory)
        : source_(source), frame_(frame),
          line_bytes_(source.image.line_elements() * size_of(source.reader->info().array.type)),
          step_(std::clamp<std::int64_t>(memory / line_bytes_, 1, source.image.height)),
          lines_(static_cast<std::size_t>(step_ * line_bytes_)) {
        if (source.palette == Palette::sand) {
            pixels_.resize(3 * lines_.size());
        }
    }

    std::int64_t step() const { return step_; }

    /// `count` ≤ step() lines, valid until the next call.
    const std::byte* read(std::int64_t first, std::int64_t count) {
        const ImageShape& image = source_.image;
        const std::int64_t line = frame_ * image.height + first;
        source_.reader->read(line * image.rows_per_line(), count * image.rows_per_line(),
                             lines_.data());
        if (source_.palette != Palette::sand) {
            return lines_.data();
        }
        const std::int64_t cells = count * image.width;
        check_cells(lines_.data(), cells, {image.width, image.height, line * image.width},
                    source_.where);
        colour_cells(lines_.data(), cells, pixels_.data());
        return pixels_.data();
    }

  private:
    const ImageSource& source_;
    std::int64_t frame_;
    std::int64_t line_bytes_;
    std::int64_t step_;
    std::vector<std::byte> lines_;
    std::vector<std::byte> pixels_;
};

} // namespace

Thumbnail make_thumbnail(const ImageSource& source, std::int64_t frame, std::int64_t size) {
    constexpr std::int64_t memory = 64 * MiB;
    const ImageShape& image = source.image;
    ImageShape shown = image;
    if (source.palette == Palette::sand) {
        shown.channels = 3;
    }
    const std::int64_t longest = std::max(image.width, image.height);
    const double scale = std::min(1.0, static_cast<double>(size) / static_cast<double>(longest));
    const auto scaled = [&](std::int64_t extent) {
        return std::max<std::int64_t>(1, std::llround(static_cast<double>(extent) * scale));
    };
    Boxes boxes(shown, scaled(image.width), scaled(image.height));
    LineReader lines(source, frame, memory);
    const ElementType type = source.reader->info().array.type;
    for (std::int64_t first = 0; first < image.height; first += lines.step()) {
        const std::int64_t count = std::min(lines.step(), image.height - first);
        const std::byte* elements = lines.read(first, count);
        visit_element_type(type, [&](auto zero) {
            using T = decltype(zero);
            boxes.add(reinterpret_cast<const T*>(elements), first, count);
        });
    }
    Thumbnail thumbnail{scaled(image.width), scaled(image.height), shown.channels,
                        type == ElementType::uint8, boxes.values()};
    if (const std::int64_t times = size / longest; times > 1) {
        thumbnail.values = repeat(thumbnail.values, shown, times);
        thumbnail.width *= times;
        thumbnail.height *= times;
    }
    return thumbnail;
}

} // namespace runner
