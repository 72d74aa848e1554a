// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/choice/picture_numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace runner::trial {
namespace {

/// One channel of an image.
class Channel {
  public:
    Channel(const Thumbnail& image, std::int64_t channel) : image_(&image), channel_(channel) {}

    double operator()(std::int64_t y, std::int64_t x) const {
        return image_->values[static_cast<std::size_t>((y * image_->width + x) * image_->channels +
                                                       channel_)];
    }

  private:
    const Thumbnail* image_;
    std::int64_t channel_;
};

/// Calls visit(number of the image, channel, y, x) for every element at least `margin` from the
/// image's border.
template <class F>
void visit_elements(std::span<const Thumbnail> images, std::int64_t margin, F&& visit) {
    for (std::size_t i = 0; i < images.size(); ++i) {
        const Thumbnail& image = images[i];
        for (std::int64_t channel = 0; channel < image.channels; ++channel) {
            for (std::int64_t y = margin; y < image.height - margin; ++y) {
                for (std::int64_t x = margin; x < image.width - margin; ++x) {
                    visit(i, channel, y, x);
                }
            }
        }
    }
}

double difference_mask(const Channel& at, std::int64_t y, std::int64_t x) {
    const auto second = [&](std::int64_t row) {
        return at(row, x - 1) - 2 * at(row, x) + at(row, x + 1);
    };
    return second(y - 1) - 2 * second(y) + second(y + 1);
}

/// The slopes along rows and columns.
std::array<double, 2> slopes(const Channel& at, std::int64_t y, std::int64_t x) {
    return {(at(y, x + 1) + at(y, x + 2) - at(y, x - 1) - at(y, x - 2)) / 2,
            (at(y + 1, x) + at(y + 2, x) - at(y - 1, x) - at(y - 2, x)) / 2};
}

double product(const std::array<double, 2>& a, const std::array<double, 2>& b) {
    return a[0] * b[0] + a[1] * b[1];
}

bool are_alike(std::span<const Thumbnail> before, std::span<const Thumbnail> after) {
    return std::equal(before.begin(), before.end(), after.begin(), after.end(),
                      [](const Thumbnail& a, const Thumbnail& b) {
                          return a.width == b.width && a.height == b.height &&
                                 a.channels == b.channels;
                      });
}

/// The sum of products of differences with those `down` and `right` of them, less the mean.
double neighbour_sum(std::span<const Thumbnail> before, std::span<const Thumbnail> after,
                     double mean, std::int64_t down, std::int64_t right) {
    double sum = 0;
    visit_elements(before, 0, [&](std::size_t i, std::int64_t channel, std::int64_t y, auto x) {
        if (y + down >= before[i].height || x + right >= before[i].width) {
            return;
        }
        const Channel a(before[i], channel);
        const Channel b(after[i], channel);
        const double both =
            (b(y, x) - a(y, x) - mean) * (b(y + down, x + right) - a(y + down, x + right) - mean);
        sum += std::isfinite(both) ? both : 0;
    });
    return sum;
}

} // namespace

std::optional<double> noise_of(std::span<const Thumbnail> images) {
    constexpr double gaussian = 1.4826; // standard deviation over the median size
    constexpr double mask_norm = 6;     // root of the sum of squares
    std::vector<double> sizes;
    visit_elements(images, 1, [&](std::size_t i, std::int64_t channel, auto y, auto x) {
        const double response = difference_mask(Channel(images[i], channel), y, x);
        if (std::isfinite(response)) {
            sizes.push_back(std::abs(response));
        }
    });
    if (sizes.empty()) {
        return std::nullopt;
    }
    const auto middle = sizes.begin() + std::ssize(sizes) / 2;
    std::nth_element(sizes.begin(), middle, sizes.end());
    return gaussian * *middle / mask_norm;
}

double Removed::white_limit() const {
    constexpr double deviations = 3; // of the larger of two, of which each has one of 1 / sqrt(n)
    return deviations / std::sqrt(static_cast<double>(elements));
}

std::optional<Removed> removed_between(std::span<const Thumbnail> before,
                                       std::span<const Thumbnail> after) {
    std::int64_t count = 0;
    std::int64_t changed = 0;
    double sum = 0;
    double squares = 0;
    if (!are_alike(before, after)) {
        return std::nullopt;
    }
    visit_elements(before, 0, [&](std::size_t i, std::int64_t channel, auto y, auto x) {
        const double each = Channel(after[i], channel)(y, x) - Channel(before[i], channel)(y, x);
        if (std::isfinite(each)) {
            ++count;
            changed += each != 0 ? 1 : 0;
            sum += each;
            squares += each * each;
        }
    });
    if (count == 0) {
        return std::nullopt;
    }
    const auto elements = static_cast<double>(count);
    const double mean = sum / elements;
    const double variance = std::max(0.0, squares / elements - mean * mean);
    Removed removed{.changed = static_cast<double>(changed) / elements,
                    .deviation = std::sqrt(variance),
                    .structure = std::nullopt,
                    .correlation = std::nullopt,
                    .elements = count};
    if (variance > 0) {
        const double along_rows = neighbour_sum(before, after, mean, 0, 1);
        const double along_columns = neighbour_sum(before, after, mean, 1, 0);
        removed.structure =
            (std::abs(along_rows) > std::abs(along_columns) ? along_rows : along_columns) /
            (variance * elements);
        removed.correlation = std::max(along_rows, along_columns) / (variance * elements);
    }
    return removed;
}

std::optional<double> sharpness_of(std::span<const Thumbnail> before,
                                   std::span<const Thumbnail> after) {
    constexpr double edge_share = 0.02;
    struct Place {
        double square;  ///< of the slope before
        double product; ///< with the slope after
    };
    std::vector<Place> places;
    if (!are_alike(before, after)) {
        return std::nullopt;
    }
    visit_elements(before, 2, [&](std::size_t i, std::int64_t channel, auto y, auto x) {
        const std::array<double, 2> first = slopes(Channel(before[i], channel), y, x);
        const std::array<double, 2> second = slopes(Channel(after[i], channel), y, x);
        const Place place{product(first, first), product(first, second)};
        if (std::isfinite(place.square) && std::isfinite(place.product)) {
            places.push_back(place);
        }
    });
    const auto edges =
        static_cast<std::ptrdiff_t>(std::ceil(edge_share * static_cast<double>(places.size())));
    std::partial_sort(places.begin(), places.begin() + edges, places.end(),
                      [](const Place& a, const Place& b) { return a.square > b.square; });
    double squares = 0;
    double products = 0;
    for (const Place& place : std::span(places).first(static_cast<std::size_t>(edges))) {
        squares += place.square;
        products += place.product;
    }
    return squares > 0 ? std::optional(products / squares) : std::nullopt;
}

} // namespace runner::trial
