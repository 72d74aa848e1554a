// SPDX-License-Identifier: BSD-3-Clause
#include "views/pictures/contrast.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

namespace runner {
namespace {

/// The value that a share of the sorted finite values lies below: the nearest one in rank.
double percentile(std::vector<double>& values, double share) {
    const auto rank =
        static_cast<std::ptrdiff_t>(std::llround(share * static_cast<double>(values.size() - 1)));
    std::nth_element(values.begin(), values.begin() + rank, values.end());
    return values[static_cast<std::size_t>(rank)];
}

} // namespace

GreyRange range_of(std::span<const Thumbnail> pictures, const std::optional<Percentiles>& asked) {
    if (!asked &&
        std::all_of(pictures.begin(), pictures.end(), [](const auto& p) { return p.is_bytes; })) {
        return {};
    }
    std::vector<double> finite;
    for (const Thumbnail& picture : pictures) {
        std::copy_if(picture.values.begin(), picture.values.end(), std::back_inserter(finite),
                     [](double value) { return std::isfinite(value); });
    }
    if (finite.empty()) {
        return {};
    }
    const Percentiles shares = asked.value_or(Percentiles{});
    const double black = percentile(finite, shares.black);
    return {black, percentile(finite, shares.white)};
}

std::uint8_t shade(double value, const GreyRange& range) {
    if (!std::isfinite(value)) {
        return 0;
    }
    if (!(range.white > range.black)) {
        return 128;
    }
    const double share = (value - range.black) / (range.white - range.black);
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(share, 0.0, 1.0)));
}

Picture shaded(const Thumbnail& thumbnail, const GreyRange& range) {
    Picture picture{thumbnail.width, thumbnail.height, thumbnail.channels, {}};
    picture.pixels.reserve(thumbnail.values.size());
    std::transform(thumbnail.values.begin(), thumbnail.values.end(),
                   std::back_inserter(picture.pixels),
                   [&](double value) { return shade(value, range); });
    return picture;
}

Thumbnail difference_of(const Thumbnail& a, const Thumbnail& b) {
    Thumbnail difference = a;
    difference.is_bytes = false;
    for (std::size_t i = 0; i < difference.values.size(); ++i) {
        difference.values[i] = b.values[i] - a.values[i];
    }
    return difference;
}

double largest_size(const Thumbnail& thumbnail) {
    double most = 0;
    for (const double value : thumbnail.values) {
        most = std::isfinite(value) ? std::max(most, std::abs(value)) : most;
    }
    return most;
}

Picture shaded_difference(const Thumbnail& difference, double most) {
    constexpr std::array<double, 3> below = {33, 102, 172};
    constexpr std::array<double, 3> none = {255, 255, 255};
    constexpr std::array<double, 3> above = {178, 24, 43};
    Picture picture{difference.width, difference.height, 3, {}};
    const auto channels = static_cast<std::size_t>(difference.channels);
    for (std::size_t at = 0; at < difference.values.size(); at += channels) {
        const auto pixel = std::span(difference.values).subspan(at, channels);
        const double value = *std::max_element(pixel.begin(), pixel.end(), [](double x, double y) {
            return std::abs(x) < std::abs(y);
        });
        const double share = most > 0 ? std::clamp(value / most, -1.0, 1.0) : 0;
        const auto& end = share < 0 ? below : above;
        for (std::size_t i = 0; i < 3; ++i) {
            const double level = none[i] + (end[i] - none[i]) * std::abs(share);
            picture.pixels.push_back(std::isfinite(value)
                                         ? static_cast<std::uint8_t>(std::lround(level))
                                         : std::uint8_t{0});
        }
    }
    return picture;
}

} // namespace runner
