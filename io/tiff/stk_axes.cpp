// SPDX-License-Identifier: BSD-3-Clause
#include "io/tiff/tiff_axes.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace runner {
namespace {

constexpr std::uint16_t settings_of_stk = 33628; ///< UIC1Tag: numbers of settings and their values
constexpr std::int64_t most_stk_planes = 1 << 20;

std::optional<double> fraction_at(const TiffHandle& tiff, std::uint64_t offset) {
    const double over = static_cast<double>(tiff.integer_at(offset, 4).value_or(0));
    const double under = static_cast<double>(tiff.integer_at(offset + 4, 4).value_or(0));
    return over > 0 && under > 0 ? std::optional(over / under) : std::nullopt;
}

/// A text behind its length.
std::string text_at(const TiffHandle& tiff, std::uint64_t offset) {
    constexpr std::uint64_t longest = 64;
    const std::uint64_t length = tiff.integer_at(offset, 4).value_or(0);
    std::string text;
    for (std::uint64_t i = 0; i < std::min(length, longest); ++i) {
        const auto letter = static_cast<char>(tiff.integer_at(offset + 4 + i, 1).value_or(0));
        if (letter == '\0') {
            break;
        }
        text += letter;
    }
    return text;
}

/// Size and unit of pixels, if the calibration is in force.
void add_calibration(const TiffHandle& tiff, StkAxes& axes) {
    constexpr std::int64_t most_settings = 1024;
    enum Setting : std::uint64_t { calibrated = 3, x_size = 4, y_size = 5, unit = 6 };
    const RawTag settings = tiff.raw_tag(settings_of_stk, 8);
    bool is_calibrated = false;
    std::string unit_text;
    for (std::int64_t i = 0; i < std::min(settings.count, most_settings); ++i) {
        const std::uint64_t at = settings.offset + 8 * static_cast<std::uint64_t>(i);
        const std::uint64_t value = tiff.integer_at(at + 4, 4).value_or(0);
        switch (tiff.integer_at(at, 4).value_or(~std::uint64_t{0})) {
        case calibrated: is_calibrated = value != 0; break;
        case x_size: axes.x.spacing = fraction_at(tiff, value); break;
        case y_size: axes.y.spacing = fraction_at(tiff, value); break;
        case unit: unit_text = plain_unit(text_at(tiff, value)); break;
        default: break;
        }
    }
    if (!is_calibrated || unit_text == "pixel" || unit_text == "pixels") {
        axes.x.spacing.reset();
        axes.y.spacing.reset();
        return;
    }
    axes.x.unit = axes.x.spacing ? unit_text : "";
    axes.y.unit = axes.y.spacing ? unit_text : "";
}

/// The step of values that are evenly apart, to a thousandth of it.
std::optional<double> even_step(const std::vector<double>& values) {
    const double step = (values.back() - values.front()) / static_cast<double>(values.size() - 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double even = values.front() + static_cast<double>(i) * step;
        if (!(std::abs(values[i] - even) <= 1e-3 * step)) {
            return std::nullopt;
        }
    }
    return step;
}

/// Each plane has six numbers: the distance to the next one as a fraction, in micrometres, and the
/// day and the millisecond of the day that it was made, and changed.
void add_planes(const TiffHandle& tiff, const RawTag& planes, StkAxes& axes) {
    constexpr std::uint64_t bytes_of_plane = 24;
    constexpr double milliseconds = 86400e3;
    std::vector<double> distances;
    std::vector<double> times;
    for (std::int64_t i = 0; i < std::min(planes.count, most_stk_planes); ++i) {
        const std::uint64_t at = planes.offset + bytes_of_plane * static_cast<std::uint64_t>(i);
        distances.push_back(fraction_at(tiff, at).value_or(0));
        times.push_back(static_cast<double>(tiff.integer_at(at + 8, 4).value_or(0)) * milliseconds +
                        static_cast<double>(tiff.integer_at(at + 12, 4).value_or(0)));
    }
    if (std::any_of(distances.begin(), distances.end(), [](double each) { return each > 0; })) {
        axes.planes.name = "z";
        // The last plane, or the first, may have no distance.
        const std::vector<double> inner(distances.begin() + (distances.size() > 2 ? 1 : 0),
                                        distances.end() - (distances.size() > 2 ? 1 : 0));
        const auto [least, most] = std::minmax_element(inner.begin(), inner.end());
        if (*least == *most && *least > 0) {
            axes.planes.spacing = *least;
            axes.planes.unit = "um";
        }
    } else if (std::is_sorted(times.begin(), times.end()) && times.front() < times.back()) {
        axes.planes.name = "t";
        if (const std::optional<double> step = even_step(times)) {
            axes.planes.spacing = *step / 1e3;
            axes.planes.unit = "s";
        }
    }
}

} // namespace

std::optional<StkAxes> stk_axes(const TiffHandle& tiff) {
    const RawTag planes = tiff.raw_tag(planes_of_stk, 8);
    if (planes.count < 1) {
        return std::nullopt;
    }
    StkAxes axes{{}, {"y"}, {"x"}};
    add_calibration(tiff, axes);
    if (planes.count > 1) {
        add_planes(tiff, planes, axes);
    }
    return axes;
}

} // namespace runner
