// SPDX-License-Identifier: BSD-3-Clause
#include "runner/contrast.hpp"

#include <algorithm>
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

GreyRange range_of(std::span<const Thumbnail> pictures) {
    if (std::all_of(pictures.begin(), pictures.end(), [](const auto& p) { return p.is_bytes; })) {
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
    const double black = percentile(finite, 0.005);
    return {black, percentile(finite, 0.995)};
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

} // namespace runner
