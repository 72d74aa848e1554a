// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/carry_metadata.hpp"

#include "io/metadata/attribute_rules.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace runner {
namespace {

/// Numbers as they are, some of them.
PlainValue chosen(const PlainValue& values, const std::vector<std::int64_t>& numbers) {
    PlainValue made = values;
    made.shape = {std::ssize(numbers)};
    made.bytes.clear();
    const std::int64_t size = size_of(values.type);
    for (const std::int64_t number : numbers) {
        const auto begin = values.bytes.begin() + number * size;
        made.bytes.insert(made.bytes.end(), begin, begin + size);
    }
    return made;
}

/// The numbers first, first + step … of which there are `count`.
std::vector<std::int64_t> evenly(std::int64_t first, std::int64_t step, std::int64_t count) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
        numbers[static_cast<std::size_t>(i)] = first + i * step;
    }
    return numbers;
}

/// Means of blocks, the last of what is there; of integers as float64.
PlainValue block_means(const PlainValue& values, std::int64_t block, std::int64_t count) {
    PlainValue made;
    made.space = PlainValue::Space::simple;
    made.shape = {count};
    made.type = values.type == ElementType::float32 ? ElementType::float32 : ElementType::float64;
    made.bytes.resize(static_cast<std::size_t>(count * size_of(made.type)));
    visit_element_type(values.type, [&](auto number) {
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t end = std::min((i + 1) * block, values.count());
            double sum = 0;
            for (std::int64_t j = i * block; j < end; ++j) {
                std::memcpy(&number, values.bytes.data() + j * std::int64_t{sizeof(number)},
                            sizeof(number));
                sum += static_cast<double>(number);
            }
            const double mean = sum / static_cast<double>(end - i * block);
            std::byte* const to = made.bytes.data() + i * size_of(made.type);
            if (made.type == ElementType::float32) {
                const auto rounded = static_cast<float>(mean);
                std::memcpy(to, &rounded, sizeof(rounded));
            } else {
                std::memcpy(to, &mean, sizeof(mean));
            }
        }
    });
    return made;
}

/// The values of an axis of `extent` elements that becomes `count` blocks.
PlainValue in_blocks(const PlainValue& values, std::int64_t extent, std::int64_t block,
                     std::int64_t count) {
    if (block == 1) {
        return values;
    }
    if (values.count() == extent) {
        return block_means(values, block, count);
    }
    std::vector<std::int64_t> edges = evenly(0, block, count + 1);
    edges.back() = std::min(edges.back(), extent);
    return chosen(values, edges);
}

/// What cutting an axis to a part does to its coordinates; false where edges cannot be cut so.
bool cut(PlainValue& values, std::size_t axis, std::int64_t extent, const DatasetPart& part) {
    const bool listed = axis == 0 && !part.frames.empty();
    if (values.count() == extent) {
        values =
            chosen(values, listed ? part.frames : evenly(part.first[axis], 1, part.count[axis]));
        return true;
    }
    if (listed) {
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

/// Their attributes, where their axis of `from` elements becomes one of `to` in blocks.
std::vector<NamedValue> held_by(const Coordinates& each, std::int64_t from, std::int64_t to,
                                std::int64_t block, std::vector<std::string>& left_out) {
    return held_attributes(each.attributes, {{from}, {{0, block}}, {to}, from != to && block == 1},
                           block == 1 ? Likeness::Values::same : Likeness::Values::alike, each.name,
                           left_out);
}

} // namespace

Likeness Likeness::in_place(Values values, const std::vector<std::int64_t>& shape) {
    Likeness made{values, {}, shape};
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        made.axes.push_back({static_cast<std::int64_t>(axis), 1});
    }
    return made;
}

Metadata metadata_of_part(const Metadata& whole, const DatasetPart& part) {
    const Likeness same = Likeness::in_place(Likeness::Values::same, part.count);
    const bool begins_elsewhere =
        !part.frames.empty() || std::any_of(part.first.begin(), part.first.end(),
                                            [](std::int64_t first) { return first > 0; });
    const AxisChange change{whole.shape, same.axes, part.count, begins_elsewhere};
    Metadata made;
    made.shape = part.count;
    made.axes = whole.axes;
    made.left_out = whole.left_out;
    made.dataset =
        held_attributes(whole.dataset, change, same.values, "the dataset", made.left_out);
    made.group = held_attributes(whole.group, change, same.values, "its group", made.left_out);
    for (const Coordinates& each : whole.coordinates) {
        const auto axis = static_cast<std::size_t>(each.axis);
        Coordinates of_part = each;
        if (!cut(of_part.values, axis, whole.shape[axis], part)) {
            made.left_out.push_back(each.name +
                                    ": its bins lie side by side, and the frames do not");
            continue;
        }
        of_part.attributes = held_by(each, whole.shape[axis], part.count[axis], 1, made.left_out);
        made.coordinates.push_back(std::move(of_part));
    }
    forget_axes(made);
    return made;
}

Metadata carried_metadata(const Metadata& input, const Likeness& output) {
    if (output.values == Likeness::Values::none) {
        return {output.shape, {}, {}, {}, {}, {}};
    }
    const AxisChange change{input.shape, output.axes, output.shape};
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
        const auto& [from, block] = output.axes[axis];
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
            Coordinates carried = each;
            carried.axis = static_cast<std::int64_t>(axis);
            carried.values = in_blocks(each.values, input.shape[at], block, output.shape[axis]);
            carried.attributes =
                held_by(each, input.shape[at], output.shape[axis], block, made.left_out);
            made.coordinates.push_back(std::move(carried));
        }
    }
    forget_axes(made);
    return made;
}

} // namespace runner
