// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/dataset_part.hpp"

#include "base/format.hpp"

#include <algorithm>
#include <utility>

namespace runner {
namespace {

/// Whether the numbers are evenly apart.
bool is_even(const std::vector<std::int64_t>& numbers) {
    for (std::size_t i = 2; i < numbers.size(); ++i) {
        if (numbers[i] - numbers[i - 1] != numbers[1] - numbers[0]) {
            return false;
        }
    }
    return true;
}

std::string range_text(std::int64_t first, std::int64_t last, std::int64_t step) {
    return fmt::format("{}:{}", first, last) + (step == 1 ? "" : fmt::format(":{}", step));
}

/// The numbers along an axis that a part takes.
std::vector<std::int64_t> taken(const DatasetPart& part, std::size_t axis) {
    if (axis == 0 && !part.frames.empty()) {
        return part.frames;
    }
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = 0; i < part.count[axis]; ++i) {
        numbers.push_back(part.first[axis] + i * part.step_of(axis));
    }
    return numbers;
}

std::string frames_text(const std::vector<std::int64_t>& frames) {
    if (is_even(frames)) {
        const std::int64_t step = frames.size() < 2 ? 1 : frames[1] - frames[0];
        return range_text(frames.front(), frames.back() + 1, step);
    }
    std::uint64_t hash = 14695981039346656037U; // FNV-1a
    for (const std::int64_t frame : frames) {
        hash = (hash ^ static_cast<std::uint64_t>(frame)) * 1099511628211U;
    }
    return fmt::format("{} frames from {} to {}, checksum {}", frames.size(), frames.front(),
                       frames.back(), hash);
}

} // namespace

bool DatasetPart::drops(std::size_t axis) const {
    return std::binary_search(dropped.begin(), dropped.end(), axis);
}

std::vector<std::size_t> DatasetPart::axes() const {
    std::vector<std::size_t> left;
    for (std::size_t axis = 0; axis < count.size(); ++axis) {
        if (!drops(axis)) {
            left.push_back(axis);
        }
    }
    return left;
}

std::vector<std::int64_t> DatasetPart::shape() const {
    std::vector<std::int64_t> extents;
    for (const std::size_t axis : axes()) {
        extents.push_back(count[axis]);
    }
    return extents;
}

DatasetPart part_of_part(const DatasetPart& outer, const DatasetPart& inner) {
    DatasetPart part = outer;
    const std::vector<std::size_t> axes = outer.axes();
    std::vector<std::int64_t> step(outer.count.size(), 1);
    for (std::size_t axis = 0; axis < step.size(); ++axis) {
        step[axis] = outer.step_of(axis);
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::size_t axis = axes[i];
        std::vector<std::int64_t> numbers = taken(inner, i);
        if (axis == 0 && (!outer.frames.empty() || (i == 0 && !inner.frames.empty()))) {
            for (std::int64_t& number : numbers) {
                number = outer.frames.empty() ? outer.first[0] + number
                                              : outer.frames[static_cast<std::size_t>(number)];
            }
            part.first[0] = 0;
            part.count[0] = std::ssize(numbers);
            part.frames = std::move(numbers);
        } else {
            const std::int64_t apart = numbers.size() > 1 ? numbers[1] - numbers[0] : 1;
            part.first[axis] = outer.first[axis] + numbers.front() * step[axis];
            part.count[axis] = std::ssize(numbers);
            step[axis] = part.count[axis] == 1 ? 1 : step[axis] * apart;
        }
        if (inner.drops(i)) {
            part.dropped.insert(std::lower_bound(part.dropped.begin(), part.dropped.end(), axis),
                                axis);
        }
    }
    const bool even = std::all_of(step.begin(), step.end(), [](auto each) { return each == 1; });
    part.step = even ? std::vector<std::int64_t>() : std::move(step);
    return part;
}

std::string part_text(const DatasetPart& part) {
    std::string text;
    for (std::size_t axis = 0; axis < part.count.size(); ++axis) {
        text += axis == 0 ? "[" : ", ";
        if (part.drops(axis)) {
            text += std::to_string(axis == 0 && !part.frames.empty() ? part.frames.front()
                                                                     : part.first[axis]);
        } else if (axis == 0 && !part.frames.empty()) {
            text += frames_text(part.frames);
        } else {
            const std::int64_t step = part.step_of(axis);
            text += range_text(part.first[axis],
                               part.first[axis] + (part.count[axis] - 1) * step + 1, step);
        }
    }
    return text + "]";
}

std::vector<AxisOrigin> origins_of(const DatasetPart& part) {
    std::vector<AxisOrigin> origins;
    for (const std::size_t axis : part.axes()) {
        const std::vector<std::int64_t> numbers = taken(part, axis);
        const std::int64_t step = numbers.size() < 2 ? 1 : numbers[1] - numbers[0];
        origins.push_back({static_cast<std::int64_t>(axis), static_cast<double>(numbers.front()),
                           is_even(numbers) ? static_cast<double>(step) : 0});
    }
    return origins;
}

Axes axes_of_part(const Axes& whole, const DatasetPart& part) {
    DatasetPart box = part; // an index that takes its axis away moves the affine's origin
    box.dropped.clear();
    std::vector<AxisOrigin> kept;
    for (const std::size_t axis : part.axes()) {
        kept.push_back({static_cast<std::int64_t>(axis)});
    }
    Axes axes = moved_axes(moved_axes(whole, origins_of(box)), kept);
    const std::optional<std::size_t> c = whole.find("c");
    axes.channels.clear();
    if (c && !part.drops(*c) && !whole.channels.empty()) {
        for (const std::int64_t number : taken(part, *c)) {
            axes.channels.push_back(whole.channels[static_cast<std::size_t>(number)]);
        }
    }
    return axes;
}

DatasetInfo info_of_part(const DatasetInfo& info, const DatasetPart& part) {
    DatasetInfo of_part = info;
    of_part.array.shape = part.shape();
    of_part.axes = axes_of_part(info.axes, part);
    of_part.offset.reset();
    if (part.drops(info.array.shape.size() - 1) && info.channels.value_or(1) > 1) {
        of_part.channels = 1;
    }
    const double share = static_cast<double>(byte_count(of_part.array)) /
                         static_cast<double>(byte_count(info.array));
    of_part.stored_bytes =
        static_cast<std::int64_t>(static_cast<double>(info.stored_bytes) * share);
    return of_part;
}

} // namespace runner
