// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/part/part_course.hpp"

#include <algorithm>
#include <numeric>

namespace runner::trial {
namespace {

/// How far a step goes along the axes of its input; nothing where each element that it makes
/// depends on all of them.
std::optional<Locality> locality_of(const Job& step, const Likeness& like) {
    // The lists of matches are not at places of the input, and each is made of what is near.
    return like.values == Likeness::Values::foreign ? step.mixing() : step.locality();
}

Likeness likeness_of(const Job& step) {
    const std::vector<Likeness> all = step.likeness();
    return all.empty() ? Likeness::in_place(Likeness::Values::other, step.output().shape)
                       : all.back();
}

/// What is said of an axis of a step's input; nothing before the last three.
template <class T>
std::optional<T> along_axis(const std::array<T, 3>& zyx, std::size_t axis, std::size_t axes) {
    const std::size_t from_end = axes - axis; // 1 for x
    return from_end <= zyx.size() ? std::optional<T>(zyx.at(zyx.size() - from_end)) : std::nullopt;
}

} // namespace

PartCourse::PartCourse(const std::vector<std::int64_t>& shape)
    : input_{shape, std::vector<InputAxis>(shape.size())} {
    for (std::size_t i = 0; i < shape.size(); ++i) {
        made_.push_back({i, 1, shape[i]});
    }
}

void PartCourse::widen(const Locality& locality) {
    for (std::size_t i = 0; i < made_.size(); ++i) {
        if (!made_[i].input) {
            continue;
        }
        InputAxis& axis = input_.axes[*made_[i].input];
        const std::int64_t reach = along_axis(locality.reach, i, made_.size()).value_or(0);
        axis.reach += reach * made_[i].block;
        axis.step = std::lcm(axis.step, along_axis(locality.step, i, made_.size()).value_or(1) *
                                            made_[i].block);
        axis.wraps = axis.wraps || (locality.wraps && reach > 0);
        made_[i].block *= along_axis(locality.block, i, made_.size()).value_or(1);
        axis.block = std::lcm(axis.block, made_[i].block);
        if (along_axis(locality.joins, i, made_.size()).value_or(false)) {
            axis.is_cut = false;
            made_[i].input.reset();
        }
    }
}

void PartCourse::add(const Job& step) {
    const Likeness like = likeness_of(step);
    const std::optional<Locality> locality = locality_of(step, like);
    if (locality) {
        widen(*locality);
    } else {
        for (InputAxis& axis : input_.axes) {
            axis.is_cut = false;
        }
    }
    std::vector<bool> is_left(made_.size(), like.values == Likeness::Values::foreign);
    std::vector<MadeAxis> made;
    const std::vector<std::int64_t> shape = like.shape;
    const std::size_t axes = shape.size() - (step.channels() > 1 ? 1 : 0);
    for (std::size_t i = 0; i < axes; ++i) {
        const auto from = static_cast<std::size_t>(like.axes[i].axis); // a new axis: the largest
        made.push_back(from < made_.size() ? made_[from] : MadeAxis{});
        made.back().extent = shape[i];
        if (from < made_.size()) {
            is_left[from] = true;
        }
    }
    for (std::size_t i = 0; i < made_.size(); ++i) {
        if (!is_left[i] && made_[i].input) { // reduced
            input_.axes[*made_[i].input].is_cut = false;
        }
    }
    made_ = std::move(made);
}

bool along_same_axes(const std::vector<MadeAxis>& one, const std::vector<MadeAxis>& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](const MadeAxis& a, const MadeAxis& b) { return a.input == b.input; });
}

Box made_box(std::span<const MadeAxis> made, const Box& part, const Box& box) {
    Box all;
    for (const MadeAxis& axis : made) {
        if (axis.input) {
            const std::size_t i = *axis.input;
            const std::int64_t first = (box.first[i] - part.first[i]) / axis.block;
            all.first.push_back(first);
            all.last.push_back(first + std::max<std::int64_t>(1, box.extent(i) / axis.block));
        } else {
            all.first.push_back(0);
            all.last.push_back(axis.extent);
        }
    }
    return all;
}

} // namespace runner::trial
