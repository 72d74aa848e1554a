// SPDX-License-Identifier: BSD-3-Clause
#include "views/pictures/thumbnail.hpp"

#include "base/sizes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// Sums of the finite elements that fall into each box, and how many they are. `invalid`: the
/// number of elements that are no values.
class Boxes {
  public:
    Boxes(const ImageShape& image, std::int64_t width, std::int64_t height,
          std::optional<double> invalid = {})
        : image_(image), width_(width), height_(height), invalid_(invalid),
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
                if (std::isfinite(value) && value != invalid_) {
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
    std::optional<double> invalid_;
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

/// The pixels that an extent takes at a scale.
std::int64_t scaled(std::int64_t extent, double scale) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(extent) * scale));
}

/// The size at which an image is shown.
struct ShownSize {
    ShownSize(const ImageShape& image, std::int64_t size)
        : longest(std::max(image.width, image.height)), width(scaled(image.width, scale_to(size))),
          height(scaled(image.height, scale_to(size))) {}

    double scale_to(std::int64_t size) const {
        return std::min(1.0, static_cast<double>(size) / static_cast<double>(longest));
    }

    std::int64_t longest;
    std::int64_t width;
    std::int64_t height;
};

/// What is read of a frame.
struct Sampling {
    std::int64_t lines;           ///< so many, evenly spaced
    std::int64_t column_step = 1; ///< ImageLines'
};

Thumbnail finished(Boxes& boxes, const ShownSize& shown, int channels, std::int64_t size) {
    Thumbnail thumbnail;
    thumbnail.width = shown.width;
    thumbnail.height = shown.height;
    thumbnail.channels = channels;
    thumbnail.values = boxes.values();
    if (const std::int64_t times = size / shown.longest; times > 1) {
        thumbnail.values =
            repeat(thumbnail.values, {1, shown.height, shown.width, channels}, times);
        thumbnail.width *= times;
        thumbnail.height *= times;
    }
    return thumbnail;
}

/// Red, green and blue, without what follows them.
void keep_three_channels(Thumbnail& thumbnail) {
    const auto channels = static_cast<std::size_t>(thumbnail.channels);
    std::vector<double> kept;
    kept.reserve(thumbnail.values.size() / channels * 3);
    for (auto pixel = thumbnail.values.begin(); pixel != thumbnail.values.end();
         pixel += thumbnail.channels) {
        kept.insert(kept.end(), pixel, pixel + 3);
    }
    thumbnail.values = std::move(kept);
    thumbnail.channels = 3;
}

Thumbnail shrink(const ImageSource& source, std::int64_t frame, std::int64_t size,
                 const Sampling& sampling) {
    constexpr std::int64_t memory = 64 * MiB;
    const ImageShape& image = source.image;
    const ShownSize shown(image, size);
    const ElementType type = source.reader->info().array.type;
    ImageLines lines(source, frame, sampling.column_step, memory);
    const int channels = source.palette == Palette::sand ? 3 : image.channels;
    Boxes boxes({1, sampling.lines, lines.width(), channels}, shown.width, shown.height,
                source.reader->info().invalid_value);
    const bool all = sampling.lines == image.height;
    const std::int64_t step = all ? lines.step() : 1;
    for (std::int64_t first = 0; first < sampling.lines; first += step) {
        const std::int64_t count = std::min(step, sampling.lines - first);
        const std::int64_t line =
            all ? first : (2 * first + 1) * image.height / (2 * sampling.lines);
        const std::byte* elements = lines.read(line, count);
        visit_element_type(type, [&](auto zero) {
            using T = decltype(zero);
            boxes.add(reinterpret_cast<const T*>(elements), first, count);
        });
    }
    Thumbnail thumbnail = finished(boxes, shown, channels, size);
    if (channels > 3) {
        keep_three_channels(thumbnail);
    }
    thumbnail.is_bytes = type == ElementType::uint8;
    thumbnail.is_sample = !all || lines.width() < image.width;
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

/// Across the last axis each element is a read of its own: no more of these than take a second.
std::int64_t size_across_last(const ImageShape& image, std::int64_t size) {
    constexpr double most_reads = 1 << 18;
    const ShownSize shown(image, size);
    const double reads = static_cast<double>(shown.width) * static_cast<double>(shown.height);
    const double scale = std::min(1.0, std::sqrt(most_reads / reads));
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(size) * scale));
}

} // namespace

Thumbnail make_thumbnail(const ImageSource& source, std::int64_t frame, std::int64_t size) {
    return shrink(source, frame, size, {source.image.height});
}

std::optional<Thumbnail> sampled_thumbnail(const ImageSource& source, std::int64_t frame,
                                           std::int64_t size, std::int64_t most_bytes) {
    const ImageShape& image = source.image;
    if (source.view && source.view->axis == 2) {
        const std::int64_t fitting = size_across_last(image, size);
        const ShownSize shown(image, fitting);
        return shrink(source, frame, fitting, {shown.height, image.width / shown.width});
    }
    const DatasetInfo& info = source.reader->info();
    const std::int64_t line_bytes = image.line_elements() * size_of(info.array.type);
    const std::size_t whole_axes = source.view && source.view->axis == 1 ? 1 : 2;
    if (cost(info, image.height * line_bytes, whole_axes) <= most_bytes) {
        return shrink(source, frame, size, {image.height});
    }
    const std::int64_t lines = most_bytes / cost(info, line_bytes, 1);
    if (lines < 1) {
        return std::nullopt;
    }
    // Four lines a pixel are enough, and less than one are none: then the picture is smaller.
    const double aspect = static_cast<double>(std::max(image.width, image.height)) /
                          static_cast<double>(image.height);
    const auto most_size = static_cast<std::int64_t>(static_cast<double>(lines) * aspect);
    const std::int64_t fitting = std::clamp<std::int64_t>(most_size, 1, size);
    const std::int64_t wanted = 4 * ShownSize(image, fitting).height;
    return shrink(source, frame, fitting, {std::min({image.height, lines, wanted})});
}

Thumbnail shrink_values(const std::vector<double>& values, const ImageShape& image,
                        std::int64_t size) {
    const ShownSize shown(image, size);
    Boxes boxes({1, image.height, image.width, 1}, shown.width, shown.height);
    boxes.add(values.data(), 0, image.height);
    return finished(boxes, shown, 1, size);
}

} // namespace runner
