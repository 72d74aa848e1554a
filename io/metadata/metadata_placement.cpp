// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/metadata_placement.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace runner {
namespace {

constexpr std::array<std::string_view, 5> size_names = {"element_size_um", "element_size",
                                                        "voxel_size", "pixel_size", "spacing"};
constexpr std::string_view in_micrometres = "element_size_um";

/// Numbers of any type as float64; none of another value.
std::vector<double> numbers_of(const PlainValue& value) {
    std::vector<double> numbers;
    if (value.kind != PlainValue::Kind::number) {
        return numbers;
    }
    visit_element_type(value.type, [&](auto number) {
        for (std::size_t at = 0; at < value.bytes.size(); at += sizeof(number)) {
            std::memcpy(&number, value.bytes.data() + at, sizeof(number));
            numbers.push_back(static_cast<double>(number));
        }
    });
    return numbers;
}

std::string unit_of(const Coordinates& coordinates) {
    constexpr std::size_t longest = 64;
    for (const NamedValue& each : coordinates.attributes) {
        if (each.name == "units" && each.value.texts.size() == 1 &&
            each.value.texts.front().size() <= longest) {
            return printable(each.value.texts.front());
        }
    }
    return "";
}

/// The axis of coordinates that rise evenly, to a thousandth of a step.
std::optional<Placement::Axis> axis_of(const Coordinates& coordinates, std::int64_t extent) {
    const std::vector<double> at = numbers_of(coordinates.values);
    if (std::ssize(at) != extent || extent < 2) {
        return std::nullopt;
    }
    const double step = (at.back() - at.front()) / static_cast<double>(extent - 1);
    if (!std::isfinite(at.front()) || !std::isfinite(step) || step <= 0) {
        return std::nullopt;
    }
    constexpr double most = 1e-3;
    for (std::size_t i = 0; i < at.size(); ++i) {
        const double even = at.front() + static_cast<double>(i) * step;
        if (!(std::fabs(at[i] - even) <= most * step)) {
            return std::nullopt;
        }
    }
    return Placement::Axis{step, unit_of(coordinates), at.front()};
}

} // namespace

bool is_size_of_axes(std::string_view name) {
    return std::find(size_names.begin(), size_names.end(), name) != size_names.end();
}

Placement placement_from(const Metadata& metadata) {
    if (metadata.placement.known()) {
        return metadata.placement;
    }
    std::vector<Placement::Axis> axes(metadata.shape.size());
    bool found = false;
    for (const NamedValue& each : metadata.dataset) {
        const std::vector<double> sizes =
            is_size_of_axes(each.name) ? numbers_of(each.value) : std::vector<double>();
        const bool good = std::all_of(sizes.begin(), sizes.end(),
                                      [](double size) { return std::isfinite(size) && size >= 0; });
        if (found || sizes.empty() || sizes.size() != axes.size() || !good) {
            continue;
        }
        found = true;
        for (std::size_t axis = 0; axis < axes.size(); ++axis) {
            axes[axis] = {sizes[axis], each.name == in_micrometres ? "um" : "", 0};
        }
    }
    for (const Coordinates& each : metadata.coordinates) {
        const auto at = static_cast<std::size_t>(each.axis);
        if (const auto axis = axis_of(each, metadata.shape[at])) {
            axes[at] = *axis;
            found = true;
        }
    }
    Placement made;
    if (found) {
        made.axes = std::move(axes);
    }
    return made;
}

std::optional<PlainValue> sizes_in_micrometres(const Placement& placement) {
    PlainValue made;
    made.space = PlainValue::Space::simple;
    made.shape = {std::ssize(placement.axes)};
    made.type = ElementType::float64;
    for (const Placement::Axis& axis : placement.axes) {
        const std::optional<double> metres = metres_in(axis.unit);
        if (axis.spacing == 0 || !metres) {
            return std::nullopt;
        }
        const double size = axis.spacing * *metres * 1e6;
        const auto* const bytes = reinterpret_cast<const std::byte*>(&size);
        made.bytes.insert(made.bytes.end(), bytes, bytes + sizeof(size));
    }
    return made;
}

} // namespace runner
