// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/dataset_part.hpp"

#include "base/format.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace runner {
namespace {

/// The numbers along an axis that a part takes, which may be more than memory holds.
class TakenNumbers {
  public:
    TakenNumbers(const DatasetPart& part, std::size_t axis)
        : listed_(axis == 0 ? std::span<const std::int64_t>(part.frames)
                            : std::span<const std::int64_t>()),
          first_(part.first[axis]), step_(part.step_of(axis)), count_(part.count[axis]) {}

    std::int64_t count() const { return listed_.empty() ? count_ : std::ssize(listed_); }

    std::int64_t operator[](std::int64_t i) const {
        return listed_.empty() ? first_ + i * step_ : listed_[static_cast<std::size_t>(i)];
    }

    /// From one to the next, or 1 where there is one alone.
    std::int64_t step() const { return count() < 2 ? 1 : (*this)[1] - (*this)[0]; }

    bool is_even() const {
        const auto differs = [this](auto one, auto next) { return next - one != step(); };
        return std::adjacent_find(listed_.begin(), listed_.end(), differs) == listed_.end();
    }

  private:
    std::span<const std::int64_t> listed_;
    std::int64_t first_;
    std::int64_t step_;
    std::int64_t count_;
};

std::string range_text(std::int64_t first, std::int64_t last, std::int64_t step) {
    return fmt::format("{}:{}", first, last) + (step == 1 ? "" : fmt::format(":{}", step));
}

std::string frames_text(const DatasetPart& part) {
    const std::vector<std::int64_t>& frames = part.frames;
    if (const TakenNumbers numbers(part, 0); numbers.is_even()) {
        return range_text(frames.front(), frames.back() + 1, numbers.step());
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
        const TakenNumbers numbers(inner, i);
        if (axis == 0 && (!outer.frames.empty() || (i == 0 && !inner.frames.empty()))) {
            part.frames.clear();
            for (std::int64_t k = 0; k < numbers.count(); ++k) {
                part.frames.push_back(TakenNumbers(outer, 0)[numbers[k]]);
            }
            part.first[0] = 0;
            part.count[0] = numbers.count();
        } else {
            part.first[axis] = outer.first[axis] + numbers[0] * step[axis];
            part.count[axis] = numbers.count();
            step[axis] = part.count[axis] == 1 ? 1 : step[axis] * numbers.step();
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
            text += frames_text(part);
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
        const TakenNumbers numbers(part, axis);
        origins.push_back({static_cast<std::int64_t>(axis), static_cast<double>(numbers[0]),
                           numbers.is_even() ? static_cast<double>(numbers.step()) : 0});
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
    if (!c) {
        return axes;
    }
    const auto taken = [&](const std::vector<std::string>& all) {
        std::vector<std::string> some;
        const TakenNumbers numbers(part, *c);
        for (std::int64_t i = 0; !all.empty() && i < numbers.count(); ++i) {
            some.push_back(all[static_cast<std::size_t>(numbers[i])]);
        }
        return says_any(some) ? some : std::vector<std::string>();
    };
    for (const ChannelList& each : channel_lists) {
        axes.*each.list = taken(whole.*each.list);
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
    } else if (info.channels.value_or(1) > 1) { // the colours without their alpha
        of_part.channels = static_cast<int>(part.count.back());
    }
    const double share = static_cast<double>(byte_count(of_part.array)) /
                         static_cast<double>(byte_count(info.array));
    of_part.stored_bytes =
        static_cast<std::int64_t>(static_cast<double>(info.stored_bytes) * share);
    return of_part;
}

} // namespace runner
