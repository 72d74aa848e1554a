// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/axis_work.hpp"

#include "base/format.hpp"
#include "io/metadata/carry_setup.hpp"
#include "jobs/job.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace runner {
namespace {

/// The name of an axis that has none, by what kinds take it for.
std::string place_name(std::size_t axis, std::size_t frame_axes, const std::string& work) {
    if (axis >= frame_axes) {
        return "s";
    }
    const std::size_t from_end = frame_axes - axis;
    if (from_end <= 2 && frame_axes > 1) {
        return from_end == 1 ? "columns" : "rows";
    }
    return from_end == 3 && work != each_by_itself ? "depth" : fmt::format("axis {}", axis);
}

std::string group_text(std::span<const AxisWork> group) {
    std::string text;
    for (const AxisWork& each : group) {
        text += (text.empty() ? "" : ", ") + each.axis;
    }
    return text + ": " + group.front().work;
}

} // namespace

std::vector<std::string> work_along(const WorkAlongFrame& frame, std::size_t axes, int channels) {
    std::vector<std::string> work(axes, each_by_itself);
    const std::size_t end = axes - (channels > 1 && axes > 0 ? 1 : 0);
    for (std::size_t i = 0; i < std::min(end, frame.size()); ++i) {
        const std::string& along = frame.at(frame.size() - 1 - i);
        if (!along.empty()) {
            work[end - 1 - i] = along;
        }
    }
    return work;
}

std::vector<AxisWork> work_of(const Job& job, const ArrayInfo& input, const Axes& axes) {
    const std::size_t count = input.shape.size();
    std::vector<std::string> along = job.axis_work(count);
    const bool says_samples =
        axes.each.size() == count && count > 2 && axes.each.back().name == "s";
    const bool has_samples = says_samples || (job.channels() > 1 && count > 0);
    const std::size_t frame_axes = count - (has_samples ? 1 : 0);
    std::vector<AxisWork> work;
    for (std::size_t axis = 0; axis < count; ++axis) {
        std::string name = axis < axes.each.size() ? axes.each[axis].name : "";
        if (name.empty()) {
            name = place_name(axis, frame_axes, along[axis]);
        }
        work.push_back({std::move(name), std::move(along[axis])});
    }
    return work;
}

std::string work_text(const std::vector<AxisWork>& work) {
    // Rows and columns first, depth behind them, then the other axes, among them the samples of
    // colour. Neighbours of one word that are computed apart are one group.
    const bool is_one = std::all_of(work.begin(), work.end(), [&](const AxisWork& each) {
        return each.work == work.front().work;
    });
    if (is_one && !work.empty()) {
        return group_text(work);
    }
    const bool has_samples = work.size() > 2 && work.back().axis == "s";
    const std::size_t end = work.size() - (has_samples ? 1 : 0);
    const std::size_t rows = end - std::min<std::size_t>(end, 2);
    const std::size_t depth = rows - std::min<std::size_t>(rows, 1);
    const std::span<const AxisWork> all(work);
    std::vector<std::vector<AxisWork>> groups;
    const auto add = [&groups](std::span<const AxisWork> axes) {
        std::vector<AxisWork> group;
        for (const AxisWork& each : axes) {
            if (!group.empty() && group.back().work != each.work) {
                groups.push_back(std::exchange(group, {}));
            }
            group.push_back(each);
        }
        if (!group.empty()) {
            groups.push_back(std::move(group));
        }
    };
    add(all.subspan(rows, end - rows));
    add(all.subspan(depth, rows - depth));
    add(all.first(depth));
    add(all.subspan(end));
    std::string text;
    std::vector<AxisWork> alone;
    for (const std::vector<AxisWork>& group : groups) {
        if (group.front().work == each_by_itself) {
            alone.insert(alone.end(), group.begin(), group.end());
        } else {
            text += (text.empty() ? "" : " · ") + group_text(group);
        }
    }
    if (!alone.empty()) { // in the order of the data
        std::stable_sort(alone.begin(), alone.end(), [&](const AxisWork& a, const AxisWork& b) {
            return std::find(work.begin(), work.end(), a) < std::find(work.begin(), work.end(), b);
        });
        text += (text.empty() ? "" : " · ") + group_text(alone);
    }
    return text;
}

Axes axes_after(const Job& job, Axes axes) {
    const std::vector<Likeness> steps = job.likeness();
    if (steps.empty()) {
        return {};
    }
    for (const Likeness& step : steps) {
        axes = moved_axes(axes, step.origins());
    }
    return axes;
}

std::vector<std::int64_t> source_axes_after(const Job& job, std::vector<std::int64_t> axes) {
    const std::vector<Likeness> steps = job.likeness();
    if (steps.empty()) {
        return std::vector<std::int64_t>(job.output().shape.size(), -1);
    }
    for (const Likeness& step : steps) {
        std::vector<std::int64_t> moved;
        for (const Likeness::Axis& each : step.axes) {
            const bool is_known = each.axis >= 0 && each.axis < std::ssize(axes);
            moved.push_back(is_known ? axes[static_cast<std::size_t>(each.axis)] : -1);
        }
        axes = std::move(moved);
    }
    return axes;
}

ScanSetup setup_after(const Job& job, ScanSetup setup) {
    const std::vector<Likeness> steps = job.likeness();
    if (steps.empty()) {
        return lost_setup(std::move(setup), "is of frames, which a step before this one changes");
    }
    for (const Likeness& step : steps) {
        setup = carried_setup(std::move(setup), step);
    }
    return setup;
}

} // namespace runner
