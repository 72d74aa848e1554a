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

/// The pixels that an extent takes at a scale.
std::int64_t scaled(std::int64_t extent, double scale) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(extent) * scale));
}

/// Lines of a frame: all of them, or so many evenly spaced ones.
Thumbnail shrink(const ImageSource& source, std::int64_t frame, std::int64_t size,
                 std::int64_t lines_read) {
    constexpr std::int64_t memory = 64 * MiB;
    const ImageShape& image = source.image;
    ImageShape shown = image;
    if (source.palette == Palette::sand) {
        shown.channels = 3;
    }
    const std::int64_t longest = std::max(image.width, image.height);
    const double scale = std::min(1.0, static_cast<double>(size) / static_cast<double>(longest));
    const std::int64_t width = scaled(image.width, scale);
    const std::int64_t height = scaled(image.height, scale);
    shown.height = lines_read;
    Boxes boxes(shown, width, height);
    LineReader lines(source, frame, memory);
    const ElementType type = source.reader->info().array.type;
    const bool all = lines_read == image.height;
    const std::int64_t step = all ? lines.step() : 1;
    for (std::int64_t first = 0; first < lines_read; first += step) {
        const std::int64_t count = std::min(step, lines_read - first);
        const std::int64_t line = all ? first : (2 * first + 1) * image.height / (2 * lines_read);
        const std::byte* elements = lines.read(line, count);
        visit_element_type(type, [&](auto zero) {
            using T = decltype(zero);
            boxes.add(reinterpret_cast<const T*>(elements), first, count);
        });
    }
    Thumbnail thumbnail{width, height, shown.channels, type == ElementType::uint8, boxes.values()};
    shown.height = height;
    if (const std::int64_t times = size / longest; times > 1) {
        thumbnail.values = repeat(thumbnail.values, shown, times);
        thumbnail.width *= times;
        thumbnail.height *= times;
    }
    return thumbnail;
}

/// Bytes that must be read at most for `bytes` of a frame: of chunks that must be unpacked, all
/// along the leading axes but `whole_axes` of the last.
std::int64_t cost(const DatasetInfo& info, std::int64_t bytes, std::size_t whole_axes) {
    if (!info.offset) {
        for (std::size_t axis = 0; axis + whole_axes < info.chunk.size(); ++axis) {
            bytes *= info.chunk[axis];
        }
    }
    return bytes;
}

} // namespace

ImageSource open_image(const std::string& file, const std::string& dataset,
                       const std::optional<Palette>& palette, int threads) {
    ImageSource source;
    source.reader = open_rows(file, dataset, threads);
    source.where = std::string(file).append(":").append(dataset);
    const DatasetInfo& info = source.reader->info();
    const Content content = palette == Palette::sand ? Content::sand : content_of(file, info);
    source.palette = palette_for(palette, content, info.array, source.where);
    source.image = image_shape(info.array, content, source.where);
    return source;
}

Thumbnail make_thumbnail(const ImageSource& source, std::int64_t frame, std::int64_t size) {
    return shrink(source, frame, size, source.image.height);
}

std::optional<Thumbnail> sampled_thumbnail(const ImageSource& source, std::int64_t frame,
                                           std::int64_t size, std::int64_t most_bytes) {
    const ImageShape& image = source.image;
    const DatasetInfo& info = source.reader->info();
    const std::int64_t line_bytes = image.line_elements() * size_of(info.array.type);
    if (cost(info, image.height * line_bytes, 2) <= most_bytes) {
        return shrink(source, frame, size, image.height);
    }
    const std::int64_t lines = most_bytes / cost(info, line_bytes, 1);
    if (lines < 1) {
        return std::nullopt;
    }
    // Four lines a pixel are enough, and less than one are none: then the picture is smaller.
    const std::int64_t longest = std::max(image.width, image.height);
    const double aspect = static_cast<double>(longest) / static_cast<double>(image.height);
    const auto most_size = static_cast<std::int64_t>(static_cast<double>(lines) * aspect);
    const std::int64_t fitting = std::clamp<std::int64_t>(most_size, 1, size);
    const double scale = std::min(1.0, static_cast<double>(fitting) / static_cast<double>(longest));
    return shrink(source, frame, fitting,
                  std::min({image.height, lines, 4 * scaled(image.height, scale)}));
}

} // namespace runner
