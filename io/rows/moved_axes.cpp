// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/axes.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace runner {
namespace {

using Vector = Affine::Vector;

void add(Vector& to, double times, const Vector& step) {
    for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] += times * step[i];
    }
}

std::optional<Affine> moved(const std::optional<Affine>& whole,
                            const std::vector<AxisOrigin>& axes) {
    if (!whole) {
        return std::nullopt;
    }
    Affine made{whole->code, {}, whole->beside, whole->origin};
    std::vector<bool> taken(whole->steps.size(), false);
    for (const AxisOrigin& axis : axes) {
        made.steps.push_back({});
        if (axis.axis < 0) {
            continue;
        }
        const auto from = static_cast<std::size_t>(axis.axis);
        const Vector& step = whole->steps[from];
        taken[from] = true;
        if (axis.step == 0 && step != Vector{}) {
            return std::nullopt;
        }
        add(made.steps.back(), axis.step, step);
        add(made.origin, axis.first, step);
    }
    for (std::size_t axis = 0; axis < taken.size(); ++axis) {
        if (!taken[axis] && whole->steps[axis] != Vector{}) {
            made.beside.push_back(whole->steps[axis]);
        }
    }
    return made;
}

Axis moved_axis(const Axis& whole, const AxisOrigin& from) {
    Axis made = whole;
    if (made.spacing && from.first != 0) {
        made.origin = made.origin.value_or(0) + from.first * *made.spacing;
    } else if (from.first != 0) {
        made.origin.reset();
    }
    if (from.step == 0) {
        made.spacing.reset();
    } else if (made.spacing) {
        *made.spacing *= from.step;
    }
    return made;
}

} // namespace

Axes moved_axes(const Axes& whole, const std::vector<AxisOrigin>& from) {
    Axes made;
    if (!whole.known()) {
        return made;
    }
    for (const AxisOrigin& axis : from) {
        made.each.emplace_back();
        if (axis.axis < 0) {
            continue;
        }
        const Axis& of = whole.each[static_cast<std::size_t>(axis.axis)];
        made.each.back() = moved_axis(of, axis);
        if (of.name == "c" && axis.first == 0 && axis.step == 1) {
            for (const ChannelList& each : channel_lists) {
                made.*each.list = whole.*each.list;
            }
        }
    }
    if (!whole.find("c")) {
        for (const ChannelList& each : channel_lists) {
            made.*each.list = whole.*each.list;
        }
    }
    made.sform = moved(whole.sform, from);
    made.qform = moved(whole.qform, from);
    return made;
}

} // namespace runner
