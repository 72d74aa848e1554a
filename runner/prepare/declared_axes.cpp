// SPDX-License-Identifier: BSD-3-Clause
#include "runner/prepare/declared_axes.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace runner {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& key, const std::string& why,
                         const std::string& try_this) {
    throw Error(ExitCode::usage, {what, key, why, try_this});
}

/// Names the axes; of those that have another name now, nothing else is known.
void name_axes(const std::string& letters, Axes& axes) {
    for (std::size_t i = 0; i < letters.size(); ++i) {
        const std::string name(1, letters[i]);
        if (axes.each[i].name != name && !axes.each[i].name.empty()) {
            axes.each[i] = {};
        }
        axes.each[i].name = name;
    }
}

[[noreturn]] void refuse_axis(const std::string& name, const std::string& key, const Axes& axes,
                              const std::vector<std::int64_t>& shape, const std::string& where) {
    const bool named = std::any_of(axes.each.begin(), axes.each.end(),
                                   [](const Axis& axis) { return !axis.name.empty(); });
    refuse("the input has no such axis", key,
           named ? fmt::format("there is no axis {} in {}: its axes are {}, of the shape {}",
                               quoted_text(name), where, printable(axes.names()), shape_text(shape))
                 : fmt::format("nothing says what the axes of {} are, of the shape {}", where,
                               shape_text(shape)),
           named ? "Write one of these names, or name the axes by input.axes = \"tczyx\""
                 : "Name them, a letter each: input.axes = \"tczyx\"");
}

void set_spacing(const AxisKeys& keys, const std::vector<std::int64_t>& shape,
                 const std::string& where, Axes& axes) {
    const bool ends_in_samples = axes.find("s") && !axes.has_moved_samples();
    const std::size_t sized = axes.each.size() - (ends_in_samples ? 1 : 0);
    if (keys.spacing.size() > axes.each.size()) {
        refuse("input.spacing has too many numbers", "input.spacing",
               fmt::format("it has {}, and the shape of {} is {}", keys.spacing.size(), where,
                           shape_text(shape)),
               "Write a number for each axis, or for the last ones");
    }
    const std::size_t end = keys.spacing.size() > sized ? axes.each.size() : sized;
    for (std::size_t i = 0; i < keys.spacing.size(); ++i) {
        axes.each[end - keys.spacing.size() + i].spacing = keys.spacing[i];
    }
    for (const auto& [name, spacing] : keys.named_spacing) {
        const std::optional<std::size_t> axis = axes.find(name);
        if (!axis) {
            refuse_axis(name, "input.spacing", axes, shape, where);
        }
        axes.each[*axis].spacing = spacing;
        if (!keys.unit.empty()) {
            change_unit(axes.each[*axis], plain_unit(keys.unit));
        }
    }
}

/// Makes the steps of an affine as long as the spacings that are declared. An affine has one unit
/// for all axes of space, so one whose axes have another name or unit now is left out.
void follow_spacings(const std::vector<Axis>& in_file, const std::vector<Axis>& declared,
                     std::optional<Affine>& affine) {
    for (std::size_t i = 0; affine && i < declared.size(); ++i) {
        Affine::Vector& step = affine->steps[i];
        const Axis& was = in_file[i];
        const Axis& now = declared[i];
        if (step == Affine::Vector{} || was == now) {
            continue;
        }
        if ((was.name != now.name && !was.name.empty()) || was.unit != now.unit) {
            affine.reset();
        } else if (now.spacing && now.spacing != was.spacing) {
            const double length = std::hypot(step[0], step[1], step[2]);
            for (double& part : step) {
                part *= *now.spacing / length;
            }
        }
    }
}

std::string channels_text(const Axes& axes) {
    std::string text;
    for (const std::string& channel : axes.channels) {
        if (channel.empty()) {
            continue; // it has no name
        }
        text += (text.empty() ? "" : ", ") + quoted_text(channel);
    }
    return text;
}

/// The number of the channel of that name.
std::int64_t channel_of(const std::string& name, const AxisSelection& one, const Axes& axes,
                        const RangePlace& place) {
    const auto found = std::find(axes.channels.begin(), axes.channels.end(), name);
    if (one.axis == "c" && !name.empty() && found != axes.channels.end()) {
        if (std::find(found + 1, axes.channels.end(), name) != axes.channels.end()) {
            refuse("several channels have that name", place.key,
                   fmt::format("the channels of {} are {}", place.where, channels_text(axes)),
                   "Take it by its number");
        }
        return found - axes.channels.begin();
    }
    if (one.axis == "c" && !axes.channels.empty()) {
        refuse("the input has no such channel", place.key,
               fmt::format("there is no {} in {}: its channels are {}", quoted_text(name),
                           place.where, channels_text(axes)),
               "Write one of these names, or a number from 0 on");
    }
    refuse("cannot take that part of the input", place.key,
           fmt::format("{} is no index and no range, and {}", quoted_text(name),
                       one.axis == "c" ? "nothing says the names of the channels of " + place.where
                                       : "only channels, of the axis c, have names"),
           "Write an index, as 0, or a range, as \"0:10\" or \"::2\"");
}

void take(const AxisSelection& one, std::size_t axis, const DatasetInfo& info,
          const RangePlace& place, DatasetPart& part) {
    const std::int64_t extent = info.array.shape[axis];
    const auto* const range = std::get_if<IndexRange>(&one.taken);
    if (range == nullptr) {
        const auto* const name = std::get_if<std::string>(&one.taken);
        const std::int64_t index = name != nullptr ? channel_of(*name, one, info.axes, place)
                                                   : std::get<std::int64_t>(one.taken);
        if (index < -extent || index >= extent) {
            refuse_part(place, fmt::format("index {} is beyond the {} elements", index, extent));
        }
        part.first[axis] = index < 0 ? index + extent : index;
        part.count[axis] = 1;
        part.dropped.push_back(axis);
        return;
    }
    const Indices taken = indices_of(*range, extent, place);
    part.first[axis] = taken.first;
    part.count[axis] = (taken.last - taken.first - 1) / range->step + 1;
    constexpr std::int64_t colours = 3; // of pixels whose fourth sample may be alpha
    const bool is_of_pixel = info.channels.value_or(1) > 1 && axis + 1 == info.array.shape.size();
    const bool is_colour = taken.first == 0 && range->step == 1 && part.count[axis] == colours;
    if (is_of_pixel && part.count[axis] != extent && !is_colour) {
        refuse("cannot take a part of the samples", place.key,
               fmt::format("the last axis of {} has the {} samples of a colour pixel, of which "
                           "these are no colour",
                           place.where, extent),
               "Take one by its number, as 0, the first three by \"0:3\", or all");
    }
    if (part.count[axis] == 1 || range->step == 1) {
        return;
    }
    if (axis == 0) {
        part.frames = chosen_by(*range, extent, {}, place);
        part.first[0] = 0;
    } else {
        part.step.resize(part.count.size(), 1);
        part.step[axis] = range->step;
    }
}

} // namespace

Axes declared_axes(const AxisKeys& keys, const DatasetInfo& info, const FrameRoles& roles,
                   const std::string& where) {
    const std::vector<std::int64_t>& shape = info.array.shape;
    Axes axes = info.axes;
    if (!axes.known()) {
        axes.each.resize(shape.size());
    }
    if (roles.known() && axes.each.front().name.empty()) {
        axes.each.front().name = "frame";
    }
    if (!keys.letters.empty() && keys.letters.size() != shape.size()) {
        refuse("input.axes does not fit the input", "input.axes",
               fmt::format("{} has {} letters, and the shape of {} is {}",
                           quoted_text(keys.letters), keys.letters.size(), where,
                           shape_text(shape)),
               fmt::format("Write {} letters, one for each axis", shape.size()));
    }
    name_axes(keys.letters, axes);
    set_spacing(keys, shape, where, axes);
    follow_spacings(info.axes.each, axes.each, axes.sform);
    follow_spacings(info.axes.each, axes.each, axes.qform);
    return fitting_axes(std::move(axes), shape);
}

std::optional<DatasetPart> selected_part(const std::vector<AxisSelection>& select,
                                         const DatasetInfo& info, const std::string& where) {
    if (select.empty()) {
        return std::nullopt;
    }
    const std::vector<std::int64_t>& shape = info.array.shape;
    DatasetPart part{std::vector<std::int64_t>(shape.size(), 0), shape};
    for (const AxisSelection& one : select) {
        const std::string key = "input.select." + one.axis;
        const std::optional<std::size_t> axis = info.axes.find(one.axis);
        if (!axis) {
            refuse_axis(one.axis, key, info.axes, shape, where);
        }
        take(one, *axis, info, {key, where}, part);
    }
    std::sort(part.dropped.begin(), part.dropped.end());
    if (part.dropped.size() == shape.size()) {
        refuse("the input would have no axis", "input.select",
               "an index takes its axis away, and every axis of " + where + " has one",
               "Write a range for one, as \"5:6\", which keeps it");
    }
    return part.count == shape && part.dropped.empty() ? std::nullopt : std::optional(part);
}

std::vector<std::string> mixed_axes(const Job& job, const DatasetInfo& info,
                                    const std::string& where) {
    const std::optional<Locality> mixing = job.mixing();
    std::vector<std::string> notes;
    if (!mixing || !info.axes.known()) {
        return notes;
    }
    const std::size_t end = info.axes.each.size() - (info.channels.value_or(1) > 1 ? 1 : 0);
    for (std::size_t i = 0; i < std::min<std::size_t>(end, 3); ++i) {
        const std::string& name = info.axes.each[end - 1 - i].name;
        const std::size_t at = mixing->reach.size() - 1 - i;
        const bool is_mixed = mixing->reach.at(at) > 0 || mixing->block.at(at) > 1;
        // Whether a last axis of three or four is colour is asked by a warning of its own.
        const std::int64_t extent = info.array.shape[end - 1 - i];
        const bool is_asked = i == 0 && !info.channels && (extent == 3 || extent == 4);
        const bool is_apart =
            name == "c" || name == "t" || (name == "s" && info.axes.has_moved_samples());
        if (is_mixed && !is_asked && is_apart) {
            notes.push_back(format_error(
                {"elements along the axis " + name + " are computed from one another", where,
                 fmt::format("the job takes it for {}, and its axes are {}",
                             std::array{"columns", "rows", "depth"}.at(i),
                             printable(info.axes.names())),
                 fmt::format("Select one, as by input.select = {{ {} = 0 }}, or make a window, "
                             "factor or taps of 1 along it",
                             name)}));
        }
    }
    return notes;
}

bool keeps_first_axis(const DatasetPart& part, const DatasetInfo& info) {
    return !part.drops(0) && part.count[0] == info.array.shape[0];
}

} // namespace runner
