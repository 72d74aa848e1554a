// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/phase/beam.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/units.hpp"
#include "io/rows/axes.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace runner {
namespace {

constexpr double um_in_metre = 1e6;

/// A value of the input, or why there is none.
struct Said {
    std::optional<double> value = {};
    std::string text = {}; ///< "/entry/instrument/detector/distance is 0.5 m", or why
};

bool differ(double a, double b) {
    constexpr double rounding = 1e-6;
    return std::abs(a - b) > rounding * std::max(a, b);
}

std::string says(const ScanNumber& number) { return number.path + " is " + number.text(); }

Said of_scan(const ScanNumber& number, std::optional<double> (*in_unit)(std::string_view),
             double times, const char* what) {
    if (!number.usable()) {
        return {std::nullopt, number.path.empty()
                                  ? std::string("the input does not say the ") + what
                                  : number.fault};
    }
    return {number.value * (*in_unit(number.unit) * times), says(number)};
}

/// The size of pixels by a scan; a square's side.
Said pixels_of_scan(const ScanSetup& setup) {
    const ScanNumber& x_number = setup.x_pixel_size;
    const ScanNumber& y_number = setup.y_pixel_size;
    Said x = of_scan(x_number, metres_in, um_in_metre, "size of a pixel");
    const Said y = of_scan(y_number, metres_in, um_in_metre, "height of a pixel");
    if (!x.value || !y.value) {
        return {std::nullopt, x.value ? y.text : x.text};
    }
    if (differ(*x.value, *y.value)) {
        return {std::nullopt, fmt::format("pixels are {} um wide and {} um high, and the filter "
                                          "takes square ones",
                                          toml_text(*x.value), toml_text(*y.value))};
    }
    return x;
}

/// The distance of elements along the last two axes, where it is a length.
std::optional<Said> pixels_of_axes(const Axes& axes) {
    if (axes.each.size() < 2) {
        return std::nullopt;
    }
    const auto length = [](const Axis& axis) {
        const std::optional<double> metres = axis.spacing ? metres_in(axis.unit) : std::nullopt;
        return metres ? std::optional(*axis.spacing * (*metres * um_in_metre)) : std::nullopt;
    };
    const std::optional<double> x = length(axes.each.back());
    const std::optional<double> y = length(axes.each[axes.each.size() - 2]);
    if (!x || !y) {
        return std::nullopt;
    }
    if (differ(*x, *y)) {
        return Said{std::nullopt, fmt::format("columns are {} um apart and rows {} um, and the "
                                              "filter takes square pixels",
                                              toml_text(*x), toml_text(*y))};
    }
    return Said{x, fmt::format("the input's rows and columns are {} um apart", toml_text(*x))};
}

Said pixel_size(const JobInput& input) {
    Said scan = pixels_of_scan(input.setup);
    const std::optional<Said> axes = pixels_of_axes(input.axes);
    if (!axes || (!axes->value && (scan.value || input.setup.x_pixel_size.usable()))) {
        return scan;
    }
    if (scan.value && differ(*scan.value, *axes->value)) {
        return {std::nullopt, scan.text + ", and " + axes->text};
    }
    return scan.value ? scan : *axes;
}

/// Takes values of keys that are left out, and gathers what is missing.
class BeamSearch {
  public:
    BeamSearch(std::string kind, Beam& beam) : kind_(std::move(kind)), beam_(beam) {}

    void take(double& value, const std::optional<double>& written, const char* key,
              const char* example, const Said& said) {
        if (written) {
            value = *written;
        } else if (said.value) {
            value = *said.value;
            beam_.found.push_back(
                fmt::format("{}.{} = {}: {}", kind_, key, toml_text(value), said.text));
        } else {
            const auto add = [](std::string& list, const std::string& more, const char* between) {
                list += (list.empty() ? "" : between) + more;
            };
            add(keys_, kind_ + "." + key, ", ");
            if (why_.find(said.text) == std::string::npos) {
                add(why_, said.text, "; ");
            }
            add(example_, std::string(key) + " = " + example, ", and ");
        }
    }

    /// @throws Error where something is missing.
    void check() const {
        if (!keys_.empty()) {
            throw Error(ExitCode::usage, {kind_ + " must know the beam and the camera", keys_, why_,
                                          "Write " + example_});
        }
    }

  private:
    std::string kind_;
    Beam& beam_;
    std::string keys_;
    std::string why_;
    std::string example_;
};

} // namespace

Beam beam_of(const BeamKeys& keys, const JobInput& input, const std::string& kind) {
    Beam beam;
    BeamSearch search(kind, beam);
    const ScanSetup& setup = input.setup;
    search.take(beam.energy, keys.energy, "energy", "25.0 in keV",
                of_scan(setup.energy, kev_in, 1, "energy of the photons"));
    search.take(beam.distance, keys.distance, "distance", "0.5 in metres",
                of_scan(setup.distance, metres_in, 1, "distance of the detector"));
    search.take(beam.pixel_size, keys.pixel_size, "pixel_size", "1.1 in micrometres",
                pixel_size(input));
    search.check();
    return beam;
}

} // namespace runner
