// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/axes.hpp"

#include "base/format.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace runner {
namespace {

bool fits(const Affine& affine, std::size_t axes) {
    const auto is_finite = [](const Affine::Vector& vector) {
        return std::all_of(vector.begin(), vector.end(),
                           [](double number) { return std::isfinite(number); });
    };
    return affine.steps.size() == axes && affine.beside.size() <= affine.origin.size() &&
           is_finite(affine.origin) &&
           std::all_of(affine.steps.begin(), affine.steps.end(), is_finite) &&
           std::all_of(affine.beside.begin(), affine.beside.end(), is_finite);
}

} // namespace

std::optional<std::size_t> Axes::find(std::string_view name) const {
    std::optional<std::size_t> found;
    for (std::size_t axis = 0; axis < each.size() && !name.empty(); ++axis) {
        if (each[axis].name == name) {
            if (found) {
                return std::nullopt;
            }
            found = axis;
        }
    }
    return found;
}

bool Axes::has_moved_samples() const {
    const std::optional<std::size_t> samples = find("s");
    return samples && *samples + 1 < each.size();
}

std::string Axes::names() const {
    std::string text;
    for (const Axis& axis : each) {
        text += (text.empty() ? "" : ", ") + (axis.name.empty() ? "?" : axis.name);
    }
    return text;
}

std::string Axes::text() const {
    constexpr std::size_t most = 8;
    std::string text;
    for (const Axis& axis : each) {
        text += (text.empty() ? "" : ", ") + (axis.name.empty() ? "?" : axis.name);
        if (axis.spacing) {
            text +=
                fmt::format(" {:.6g}{}{}", *axis.spacing, axis.unit.empty() ? "" : " ", axis.unit);
        }
        if (axis.origin && *axis.origin != 0) {
            text += fmt::format(" from {:.6g}", *axis.origin);
        }
        if (axis.name == "c" && !channels.empty()) {
            std::string listed;
            for (std::size_t i = 0; i < std::min(most, channels.size()); ++i) {
                listed += (listed.empty() ? "" : ", ") + (channels[i].empty() ? "?" : channels[i]);
            }
            text += " (" + listed + (channels.size() > most ? ", …" : "") + ")";
        }
    }
    if (channels.size() == 1 && !find("c")) {
        text += ", channel " + channels.front();
    }
    const auto add_form = [&](const std::optional<Affine>& form, const char* name) {
        text += form ? fmt::format(", {} {}", name, form->code) : "";
    };
    add_form(sform, "sform");
    add_form(qform, "qform");
    return text;
}

Axes axes_of_letters(std::string_view letters) {
    Axes axes;
    for (const char letter : letters) {
        axes.each.push_back({std::string(1, letter)});
    }
    return axes;
}

std::string plain_unit(std::string_view unit) {
    constexpr std::array micrometres = {"\u00b5m",  "\u03bcm",    "micron",
                                        "microns",  "micrometer", "micrometre",
                                        "\\u00B5m", "\\u00b5m",   "um"};
    if (std::find(micrometres.begin(), micrometres.end(), unit) != micrometres.end()) {
        return "um";
    }
    return std::string(unit);
}

bool says_any(const std::vector<std::string>& channels) {
    return std::any_of(channels.begin(), channels.end(),
                       [](const std::string& text) { return !text.empty(); });
}

Axes fitting_axes(Axes axes, std::span<const std::int64_t> shape) {
    if (axes.each.size() != shape.size()) {
        return {};
    }
    for (std::size_t i = 0; i < axes.each.size(); ++i) {
        Axis& axis = axes.each[i];
        const bool again = std::any_of(axes.each.begin(), axes.each.begin() + std::ptrdiff_t(i),
                                       [&](const Axis& one) { return one.name == axis.name; });
        if (again) {
            axis.name.clear();
        }
        if (axis.spacing && !(std::isfinite(*axis.spacing) && *axis.spacing > 0)) {
            axis.spacing.reset();
        }
        if (axis.origin && !std::isfinite(*axis.origin)) {
            axis.origin.reset();
        }
    }
    const std::optional<std::size_t> c = axes.find("c");
    for (const ChannelList& each : channel_lists) {
        if (!says_any(axes.*each.list) || std::ssize(axes.*each.list) != (c ? shape[*c] : 1)) {
            (axes.*each.list).clear();
        }
    }
    for (std::optional<Affine>* form : {&axes.sform, &axes.qform}) {
        if (*form && !fits(**form, shape.size())) {
            form->reset();
        }
    }
    const bool says = axes.sform || axes.qform ||
                      std::any_of(axes.each.begin(), axes.each.end(),
                                  [](const Axis& axis) { return axis != Axis{}; });
    return says ? axes : Axes{};
}

void change_unit(Axis& axis, const std::string& unit) {
    if (axis.unit == unit) {
        return;
    }
    const bool is_length = metres_in(axis.unit).has_value();
    const auto size_in = is_length ? metres_in : seconds_in;
    const std::optional<double> was = size_in(axis.unit);
    const std::optional<double> now = size_in(unit);
    if (axis.origin && was && now) {
        // Sizes as 1e-3 and 1e-6 are rounded: 1000 times is found, not 1000.0000000000001.
        const auto times = [](double a, double b) {
            const double whole = std::round(a / b);
            return std::abs(a / b - whole) < 1e-12 * whole ? whole : a / b;
        };
        *axis.origin =
            *was < *now ? *axis.origin / times(*now, *was) : *axis.origin * times(*was, *now);
    } else {
        axis.origin.reset();
    }
    axis.unit = unit;
}

} // namespace runner
