// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/axis_metadata.hpp"

#include "base/units.hpp"
#include "io/metadata/value_lists.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace runner {
namespace {

void replace(Metadata& metadata, NamedValue made) {
    std::erase_if(metadata.dataset, [&](const NamedValue& each) { return each.name == made.name; });
    metadata.dataset.push_back(std::move(made));
}

PlainValue list_of(const Axes& axes, PlainValue::Kind kind) {
    PlainValue value;
    value.kind = kind;
    value.space = PlainValue::Space::simple;
    value.shape = {std::ssize(axes.each)};
    return value;
}

PlainValue texts_of(const Axes& axes, const std::function<std::string(const Axis&)>& text) {
    PlainValue value = list_of(axes, PlainValue::Kind::text);
    value.utf8 = true;
    for (const Axis& axis : axes.each) {
        value.texts.push_back(text(axis));
    }
    return value;
}

PlainValue sizes_of(const Axes& axes, const std::function<double(const Axis&)>& size) {
    PlainValue sizes = list_of(axes, PlainValue::Kind::number);
    sizes.type = ElementType::float64;
    sizes.bytes.resize(axes.each.size() * sizeof(double));
    for (std::size_t i = 0; i < axes.each.size(); ++i) {
        const double number = size(axes.each[i]);
        std::memcpy(sizes.bytes.data() + i * sizeof(double), &number, sizeof(double));
    }
    return sizes;
}

/// The sizes that are known. `element_size_um` is what ilastik and Fiji's HDF5 plug-ins read.
void set_sizes(Metadata& metadata, const Axes& axes) {
    std::erase_if(metadata.dataset, [](const NamedValue& each) {
        return is_list_of_sizes(each.name) || each.name == "spacing_units";
    });
    replace(metadata, {"spacing", sizes_of(axes, [](const Axis& axis) {
                           return axis.spacing.value_or(std::numeric_limits<double>::quiet_NaN());
                       })});
    const std::vector<Axis>& each = axes.each;
    if (std::any_of(each.begin(), each.end(),
                    [](const Axis& axis) { return !axis.unit.empty(); })) {
        replace(metadata, {"spacing_units", texts_of(axes, [](const Axis& axis) {
                               return axis.spacing ? axis.unit : "";
                           })});
    }
    if (std::all_of(each.begin(), each.end(),
                    [](const Axis& axis) { return axis.spacing && metres_in(axis.unit); })) {
        replace(metadata, {"element_size_um", sizes_of(axes, [](const Axis& axis) {
                               return *axis.spacing * *metres_in(axis.unit) * 1e6;
                           })});
    }
}

/// Names of axes, in the order of the dataset's.
void set_labels(Metadata& metadata, const Axes& axes) {
    replace(metadata,
            {"DIMENSION_LABELS", texts_of(axes, [](const Axis& axis) { return axis.name; })});
}

void set_placement(Metadata& metadata, const Axes& axes) {
    PlainValue text;
    text.kind = PlainValue::Kind::text;
    text.texts = {to_text(axes)};
    text.utf8 = true;
    replace(metadata, {placement_attribute, std::move(text)});
}

bool has_channels(const Axes& axes) {
    return std::any_of(channel_lists.begin(), channel_lists.end(),
                       [&](const ChannelList& list) { return !(axes.*list.list).empty(); });
}

/// The name that the marks of an image give an axis; the samples, if any, are the last.
std::string marked_name(std::size_t axis, std::size_t axes, int channels) {
    const std::size_t from_end = axes - axis + (channels > 1 ? 0 : 1);
    return from_end == 1 ? "s" : from_end == 2 ? "x" : from_end == 3 ? "y" : "";
}

/// Makes a dataset one number of this unit.
void set_length(ScanItem& item, double length, const std::string& unit) {
    item.value = {};
    item.value.type = ElementType::float64;
    item.value.bytes.resize(sizeof(double));
    std::memcpy(item.value.bytes.data(), &length, sizeof(double));
    PlainValue text;
    text.kind = PlainValue::Kind::text;
    text.texts = {unit};
    text.utf8 = true;
    item.attributes = {{"units", std::move(text)}};
}

} // namespace

void set_axes(Metadata& metadata, const Axes& axes) {
    const auto any = [&](const auto& says) {
        return std::any_of(axes.each.begin(), axes.each.end(), says);
    };
    if (any([](const Axis& axis) { return !axis.name.empty(); })) {
        set_labels(metadata, axes);
    }
    if (any([](const Axis& axis) { return axis.spacing.has_value(); })) {
        set_sizes(metadata, axes);
    }
    const bool names_alone = !axes.sform && !axes.qform && !has_channels(axes) &&
                             !any([](const Axis& axis) { return axis.spacing || axis.origin; });
    if (!names_alone) {
        set_placement(metadata, axes);
    }
}

bool lacks_spacing(const Metadata& metadata, const Axes& axes) {
    const bool has_sizes =
        std::any_of(metadata.dataset.begin(), metadata.dataset.end(),
                    [](const NamedValue& each) { return is_list_of_sizes(each.name); });
    if (has_sizes || !metadata.scan.empty()) {
        return false;
    }
    const auto is_said = [&](std::size_t axis) {
        return std::any_of(metadata.coordinates.begin(), metadata.coordinates.end(),
                           [axis](const Coordinates& each) {
                               return each.axis == static_cast<std::int64_t>(axis);
                           });
    };
    for (std::size_t axis = 0; axis < axes.each.size(); ++axis) {
        if (axes.each[axis].spacing && !is_said(axis)) {
            return true;
        }
    }
    return false;
}

void overrule_axes(Metadata& metadata, const Axes& of_file, const Axes& declared) {
    for (std::size_t i = 0; i < std::min(of_file.each.size(), declared.each.size()); ++i) {
        const Axis& was = of_file.each[i];
        const Axis& now = declared.each[i];
        const bool is_renamed = !was.name.empty() && was.name != now.name;
        if (!is_renamed && was.spacing == now.spacing && was.unit == now.unit) {
            continue;
        }
        std::erase_if(metadata.coordinates, [&](const Coordinates& each) {
            return each.axis == static_cast<std::int64_t>(i);
        });
        if (i < metadata.axes.size()) {
            metadata.axes[i] = ".";
        }
        std::erase_if(metadata.dataset, [&](const NamedValue& each) {
            return is_renamed && (each.name == "axes" || each.name == "axistags");
        });
        for (ScanItem& item : metadata.scan) {
            if (now.spacing && item.path.ends_with("/" + now.name + "_pixel_size")) {
                set_length(item, *now.spacing, now.unit);
            }
        }
    }
}

void keep_names(Metadata& metadata, const Axes& axes) {
    bool is_lost = false;
    for (std::size_t i = 0; i < axes.each.size(); ++i) {
        const bool is_said = i < metadata.axes.size() && metadata.axes[i] != ".";
        is_lost = is_lost || (!axes.each[i].name.empty() && !is_said);
    }
    const bool has_names =
        std::any_of(metadata.dataset.begin(), metadata.dataset.end(), [](const NamedValue& each) {
            return each.name == "DIMENSION_LABELS" || each.name == "axes";
        });
    if (is_lost && !has_names) {
        set_labels(metadata, axes);
    }
}

void keep_marked_names(Metadata& metadata, const Axes& axes, int channels) {
    const std::size_t count = axes.each.size();
    std::vector<std::string> labels(count);
    for (const NamedValue& each : metadata.dataset) {
        if (each.name == "axes" || each.name == "axistags") {
            return; // which say all
        }
        if (each.name == "DIMENSION_LABELS" && each.value.texts.size() == count) {
            labels = each.value.texts;
        }
    }
    if (count < 2 || !metadata.scan.empty()) {
        return;
    }
    bool is_said = true;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string& name = axes.each[i].name;
        const bool by_group = i < metadata.axes.size() && metadata.axes[i] != ".";
        const bool by_label = !labels[i].empty() && labels[i] == name;
        is_said = is_said && (by_group || by_label || name == marked_name(i, count, channels));
    }
    if (!is_said) {
        set_labels(metadata, axes);
    }
    if (has_channels(axes)) {
        set_placement(metadata, axes);
    }
}

} // namespace runner
