// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/carry_metadata.hpp"

#include "io/metadata/scan_items.hpp"
#include "io/metadata/value_lists.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace runner {
namespace {

/// What cutting an axis to a part does to its coordinates; false where edges cannot be cut so.
bool cut(PlainValue& values, std::size_t axis, std::int64_t extent, const DatasetPart& part) {
    const bool listed = axis == 0 && !part.frames.empty();
    if (values.count() == extent) {
        values =
            chosen(values, listed ? part.frames
                                  : evenly(part.first[axis], part.step_of(axis), part.count[axis]));
        return true;
    }
    if (listed || part.step_of(axis) != 1) {
        return false;
    }
    values = chosen(values, evenly(part.first[axis], 1, part.count[axis] + 1));
    return true;
}

/// Names of axes whose coordinates are gone stand for nothing.
void forget_axes(Metadata& of) {
    for (std::size_t axis = 0; axis < of.axes.size(); ++axis) {
        const bool there =
            std::any_of(of.coordinates.begin(), of.coordinates.end(), [&](const auto& each) {
                return each.name == of.axes[axis] && each.axis == static_cast<std::int64_t>(axis);
            });
        if (!there) {
            of.axes[axis].assign(1, '.');
        }
    }
    if (std::all_of(of.axes.begin(), of.axes.end(), [](const auto& name) { return name == "."; })) {
        of.axes.clear();
    }
}

/// The coordinates of an axis of the output, of those of the axis of `extent` elements that it
/// comes from; nothing where they cannot be continued.
std::optional<PlainValue> coordinates_of(const PlainValue& values, std::int64_t extent,
                                         const Likeness::Axis& axis, std::int64_t count) {
    return axis.block == 1 && count > extent ? continued(values, extent, axis.first, count)
                                             : in_blocks(values, extent, axis.block, count);
}

/// Their attributes, where their axis of `from` elements becomes one of `to` in blocks.
std::vector<NamedValue> held_by(const Coordinates& each, std::int64_t from, std::int64_t to,
                                std::int64_t block, std::vector<std::string>& left_out) {
    return held_attributes(each.attributes, {{from}, {{0, block}}, {to}, from != to && block == 1},
                           block == 1 ? Likeness::Values::same : Likeness::Values::alike, each.name,
                           left_out);
}

using Values = Likeness::Values;

/// Attributes that say something of the elements, and how like they must be for it to hold. Names
/// of the NetCDF conventions (CF, appendix A) and of NeXus.
struct ValueRule {
    std::string_view name;
    Values least;
};
constexpr std::array value_rules = {
    ValueRule{"units", Values::scaled},          ValueRule{"unit", Values::scaled},
    ValueRule{"scale_factor", Values::alike},    ValueRule{"add_offset", Values::alike},
    ValueRule{"_FillValue", Values::coded},      ValueRule{"missing_value", Values::coded},
    ValueRule{"valid_min", Values::coded},       ValueRule{"valid_max", Values::coded},
    ValueRule{"_Unsigned", Values::coded},       ValueRule{"valid_range", Values::coded},
    ValueRule{"actual_range", Values::same},     ValueRule{"flag_values", Values::coded},
    ValueRule{"flag_masks", Values::coded},      ValueRule{"flag_meanings", Values::coded},
    ValueRule{"saturation_value", Values::same}, ValueRule{"underload_value", Values::same}};

/// Where the first element is, along each axis.
constexpr std::array<std::string_view, 3> place_names = {"origin", "offset", "translation"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool speaks_of_pixels(const std::string& name) {
    return name.find("pixel_size") != std::string::npos ||
           name.find("voxel_size") != std::string::npos || is_list_of_sizes(name);
}

bool is_list(const PlainValue& value, std::size_t length) {
    return value.space == PlainValue::Space::simple &&
           value.shape == std::vector<std::int64_t>{static_cast<std::int64_t>(length)};
}

/// Whether the value may be an affine of so many axes.
bool is_matrix(const PlainValue& value, std::size_t axes) {
    const auto is_length = [axes](std::int64_t extent) {
        return extent == static_cast<std::int64_t>(axes) ||
               extent == static_cast<std::int64_t>(axes) + 1;
    };
    return value.kind == PlainValue::Kind::number && axes > 1 && value.shape.size() == 2 &&
           is_length(value.shape.front()) && is_length(value.shape.back());
}

/// Integers wrap around where they overflow.
template <class T> T times(T number, std::int64_t block) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<std::uint64_t>(number) *
                              static_cast<std::uint64_t>(block));
    } else {
        return number * static_cast<T>(block);
    }
}

/// The value's i-th entry is that of axis i; of a new axis it is empty.
PlainValue of_axes(const PlainValue& value, const AxisChange& change) {
    PlainValue made = value;
    made.shape = {std::ssize(change.axes)};
    made.texts.clear();
    made.bytes.clear();
    const auto size = static_cast<std::size_t>(size_of(value.type));
    for (const Likeness::Axis& axis : change.axes) {
        const auto from = static_cast<std::size_t>(std::max<std::int64_t>(axis.axis, 0));
        if (value.kind == PlainValue::Kind::text) {
            made.texts.push_back(axis.axis < 0 ? "" : value.texts[from]);
        } else {
            std::vector<std::byte> entry(value.bytes.begin() + std::ptrdiff_t(from * size),
                                         value.bytes.begin() + std::ptrdiff_t((from + 1) * size));
            visit_element_type(value.type, [&](auto number) {
                std::memcpy(&number, entry.data(), sizeof(number));
                number = axis.axis < 0 ? decltype(number){} : times(number, axis.block);
                std::memcpy(entry.data(), &number, sizeof(number));
            });
            made.bytes.insert(made.bytes.end(), entry.begin(), entry.end());
        }
    }
    return made;
}

/// Whether the value may be a list along an axis that no longer has as many elements.
bool follows_changed_axis(const PlainValue& value, const AxisChange& change) {
    if (value.space != PlainValue::Space::simple || value.shape.empty()) {
        return false;
    }
    for (std::size_t axis = 0; axis < change.from.size(); ++axis) {
        const bool kept = axis < change.to.size() &&
                          change.axes[axis].axis == static_cast<std::int64_t>(axis) &&
                          change.to[axis] == change.from[axis];
        const bool long_enough = change.from[axis] > 1;
        if (!kept && long_enough && value.shape.front() == change.from[axis]) {
            return true;
        }
    }
    return false;
}

enum class Fate { held, dropped, unknown };

/// What becomes of an attribute that depends on the axes; `value` becomes what holds.
Fate after(const AxisChange& change, const std::string& name, PlainValue& value) {
    const bool changes = change.reorders() || (change.blocks() && !change.is_cut);
    const bool per_axis = is_list(value, change.from.size());
    if (name == "DIMENSION_LABELS" || name == "axes" || name == "spacing_units") {
        if (per_axis && value.kind == PlainValue::Kind::text) {
            value = of_axes(value, change);
            return Fate::held;
        }
        return change.reorders() ? Fate::dropped : Fate::held;
    }
    if (name == "axistags") { // of vigra: names and distances of all axes
        return changes || change.thins_pixels() ? Fate::dropped : Fate::held;
    }
    if (speaks_of_pixels(name)) {
        if (per_axis && value.kind == PlainValue::Kind::number && is_list_of_sizes(name)) {
            if (change.adds()) {
                return Fate::dropped;
            }
            value = of_axes(value, change);
            return Fate::held;
        }
        return changes || change.thins_pixels() ? Fate::dropped : Fate::held;
    }
    if (is_one_of(place_names, name)) {
        return changes || change.is_cut ? Fate::dropped : Fate::held;
    }
    if ((per_axis && change.from.size() > 1 && changes) || follows_changed_axis(value, change) ||
        (is_matrix(value, change.from.size()) && (changes || change.is_cut))) {
        return Fate::unknown;
    }
    return Fate::held;
}

} // namespace

Likeness Likeness::in_place(Values values, const std::vector<std::int64_t>& shape) {
    Likeness made{values, {}, shape};
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        made.axes.push_back({static_cast<std::int64_t>(axis), 1});
    }
    return made;
}

std::vector<AxisOrigin> Likeness::origins() const {
    std::vector<AxisOrigin> origins;
    for (const Axis& each : axes) {
        const auto step = static_cast<double>(each.block);
        // The first element of an axis in blocks is in the middle of its block.
        origins.push_back({each.axis, static_cast<double>(each.first) + (step - 1) / 2, step});
    }
    return origins;
}

Metadata metadata_of_part(const Metadata& whole, const DatasetPart& part) {
    const bool is_cut = !part.frames.empty() || !part.step.empty() ||
                        std::any_of(part.first.begin(), part.first.end(),
                                    [](std::int64_t first) { return first > 0; });
    AxisChange change{whole.shape, {}, part.shape(), is_cut};
    const std::vector<std::size_t> axes = part.axes();
    for (const AxisOrigin& each : origins_of(part)) { // elements not evenly apart keep their size
        change.axes.push_back(
            {each.axis, each.step == 0 ? 1 : static_cast<std::int64_t>(each.step)});
    }
    constexpr auto same = Likeness::Values::same;
    Metadata made;
    made.shape = change.to;
    made.left_out = whole.left_out;
    made.dataset = held_attributes(whole.dataset, change, same, "the dataset", made.left_out);
    made.group = held_attributes(whole.group, change, same, "its group", made.left_out);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (!whole.axes.empty()) {
            made.axes.push_back(whole.axes[axes[i]]);
        }
    }
    for (const Coordinates& each : whole.coordinates) {
        const auto axis = static_cast<std::size_t>(each.axis);
        if (part.drops(axis)) {
            continue;
        }
        Coordinates of_part = each;
        if (!cut(of_part.values, axis, whole.shape[axis], part)) {
            made.left_out.push_back(each.name +
                                    ": its bins lie side by side, and the elements do not");
            continue;
        }
        of_part.axis = std::lower_bound(axes.begin(), axes.end(), axis) - axes.begin();
        of_part.attributes = held_by(each, whole.shape[axis], part.count[axis], 1, made.left_out);
        made.coordinates.push_back(std::move(of_part));
    }
    made.placement = axes_of_part(whole.placement, part);
    if (part.dropped.empty() && part.step.empty()) {
        made.scan = scan_of_part(whole.scan, change, part, made.left_out);
    } else if (!whole.scan.empty()) {
        made.left_out.emplace_back("the scan: this part is no more frames of it");
    }
    forget_axes(made);
    return made;
}

Metadata carried_metadata(const Metadata& input, const Likeness& output) {
    if (output.values == Likeness::Values::none) {
        return {output.shape, {}, {}, {}, {}, {}, {}, {}};
    }
    const bool begins_elsewhere =
        std::any_of(output.axes.begin(), output.axes.end(),
                    [](const Likeness::Axis& axis) { return axis.first != 0; });
    const AxisChange change{input.shape, output.axes, output.shape, begins_elsewhere};
    Metadata made;
    made.shape = output.shape;
    made.left_out = input.left_out;
    if (output.values > Likeness::Values::foreign) {
        made.dataset =
            held_attributes(input.dataset, change, output.values, "the dataset", made.left_out);
    }
    made.group = held_attributes(input.group, change, output.values, "its group", made.left_out);
    made.axes.assign(input.axes.empty() ? 0 : output.axes.size(), ".");
    for (std::size_t axis = 0; axis < output.axes.size(); ++axis) {
        const std::int64_t from = output.axes[axis].axis;
        const std::int64_t block = output.axes[axis].block;
        if (from < 0) {
            continue;
        }
        const auto at = static_cast<std::size_t>(from);
        if (!input.axes.empty()) {
            made.axes[axis] = input.axes[at];
        }
        for (const Coordinates& each : input.coordinates) {
            if (each.axis != from) {
                continue;
            }
            const std::optional<PlainValue> values =
                coordinates_of(each.values, input.shape[at], output.axes[axis], output.shape[axis]);
            if (!values) {
                made.left_out.push_back(each.name + ": the axis is longer than the input's");
                continue;
            }
            Coordinates carried = each;
            carried.axis = static_cast<std::int64_t>(axis);
            carried.values = *values;
            carried.attributes =
                held_by(each, input.shape[at], output.shape[axis], block, made.left_out);
            made.coordinates.push_back(std::move(carried));
        }
    }
    if (output.values > Likeness::Values::foreign) {
        made.scan = carried_scan(input.scan, change, made.left_out);
        made.placement = moved_axes(input.placement, output.origins());
    }
    forget_axes(made);
    return made;
}

bool AxisChange::reorders() const {
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].axis != static_cast<std::int64_t>(i)) {
            return true;
        }
    }
    return axes.size() != from.size();
}

bool AxisChange::thins_pixels() const {
    return is_cut && std::any_of(axes.begin(), axes.end(), [](const Likeness::Axis& axis) {
               return axis.axis > 0 && axis.block > 1;
           });
}

bool AxisChange::adds() const {
    return std::any_of(axes.begin(), axes.end(),
                       [](const Likeness::Axis& axis) { return axis.axis < 0; });
}

bool AxisChange::blocks() const {
    return std::any_of(axes.begin(), axes.end(),
                       [](const Likeness::Axis& axis) { return axis.block > 1; });
}

std::vector<NamedValue> held_attributes(const std::vector<NamedValue>& attributes,
                                        const AxisChange& change, Likeness::Values values,
                                        const std::string& where,
                                        std::vector<std::string>& left_out) {
    std::vector<NamedValue> held;
    for (NamedValue each : attributes) {
        const auto rule = std::find_if(value_rules.begin(), value_rules.end(),
                                       [&](const ValueRule& one) { return one.name == each.name; });
        if (rule != value_rules.end() && values < rule->least) {
            if (each.name == "scale_factor" || each.name == "add_offset") {
                left_out.push_back(where + "@" + each.name +
                                   ": the elements were taken as they are stored");
            }
            continue;
        }
        const Fate fate = after(change, each.name, each.value);
        if (fate == Fate::held) {
            held.push_back(std::move(each));
        } else if (fate == Fate::unknown) {
            left_out.push_back(where + "@" + each.name +
                               ": its values may belong to the axes, which change");
        }
    }
    return held;
}

} // namespace runner
