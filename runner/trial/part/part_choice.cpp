// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/part/part_choice.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/rounding.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace runner::trial {
namespace {

constexpr std::int64_t picture_side = 64; ///< the least extent of what is shown

/// The fewest elements of an axis that leave something between two borders.
std::int64_t least_extent(const WholeInput& whole, std::size_t axis) {
    const InputAxis& along = whole.axes[axis];
    if (!along.is_cut) {
        return whole.shape[axis];
    }
    const bool is_image_axis = along.is_shown || axis + 2 >= whole.shape.size();
    const std::int64_t inner = is_image_axis ? picture_side : 1;
    const std::int64_t wanted = 2 * round_up(along.reach, along.step) + round_up(inner, along.step);
    return std::min(wanted, whole.shape[axis]);
}

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
    throw Error(ExitCode::usage,
                {"cannot take that part of the input", "--part " + text, why,
                 "Write central, first, or a range for each of the last axes, as 10:20,200:800,:"});
}

std::optional<std::int64_t> number(std::string_view text, std::int64_t otherwise) {
    if (text.empty()) {
        return otherwise;
    }
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failure == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                      : std::nullopt;
}

/// Cuts one axis of `box` to the range.
void cut_to(const WholeInput& whole, std::size_t axis, std::string_view range,
            const std::string& text, Box& box) {
    const std::size_t colon = range.find(':');
    if (colon == std::string_view::npos) {
        refuse(text, quoted_text(range) + " is not a range");
    }
    const std::int64_t extent = whole.shape[axis];
    const auto first = number(range.substr(0, colon), 0);
    const auto last = number(range.substr(colon + 1), extent);
    if (!first || !last || *first < 0 || *last > extent || *first >= *last) {
        refuse(text, fmt::format("{} is not a range within the {} elements of axis {}",
                                 quoted_text(range), extent, axis));
    }
    if ((*first > 0 || *last < extent) && !whole.axes[axis].is_cut) {
        refuse(text, fmt::format("axis {} of the input cannot be cut", axis));
    }
    const std::int64_t step = whole.axes[axis].step;
    if (*first % step != 0) {
        refuse(text, fmt::format("along axis {} the job takes elements in steps of {}, and {} is "
                                 "not a multiple of it",
                                 axis, step, *first));
    }
    box.first[axis] = *first;
    box.last[axis] = *last;
}

} // namespace

std::int64_t Box::elements() const {
    std::int64_t product = 1;
    for (std::size_t i = 0; i < first.size(); ++i) {
        product *= extent(i);
    }
    return product;
}

std::string Box::text() const {
    std::string text;
    for (std::size_t i = 0; i < first.size(); ++i) {
        text += fmt::format("{}{}:{}", i == 0 ? "" : ", ", first[i], last[i]);
    }
    return "[" + text + "]";
}

Box choose_part(const WholeInput& whole, std::int64_t elements, PartPlace place,
                const std::optional<PartMiddle>& around) {
    const std::size_t axes = whole.shape.size();
    std::vector<std::int64_t> extents(axes);
    for (std::size_t i = 0; i < axes; ++i) {
        extents[i] = least_extent(whole, i);
    }
    Box part{std::vector<std::int64_t>(axes, 0), whole.shape};
    for (std::size_t axis = axes; axis > 0; --axis) {
        const std::size_t i = axis - 1;
        std::int64_t others = 1;
        for (std::size_t j = 0; j < axes; ++j) {
            others *= j == i ? 1 : extents[j];
        }
        const std::int64_t step = whole.axes[i].step;
        extents[i] =
            std::min(std::max(extents[i], elements / others / step * step), whole.shape[i]);
        const std::int64_t most = whole.shape[i] - extents[i];
        std::int64_t before = place == PartPlace::first ? 0 : most / 2;
        if (around && around->axis == i) {
            before = std::clamp<std::int64_t>(around->at - extents[i] / 2, 0, most);
        }
        part.first[i] = before / step * step;
        part.last[i] = part.first[i] + extents[i];
    }
    return part;
}

std::optional<Box> exact_part(const WholeInput& whole, const Box& part) {
    const std::size_t axes = whole.shape.size();
    Box exact = part;
    for (std::size_t i = 0; i < axes; ++i) {
        if (part.extent(i) == whole.shape[i]) {
            continue;
        }
        const InputAxis& axis = whole.axes[i];
        if (part.first[i] > 0 || axis.wraps) {
            exact.first[i] = round_up(part.first[i] + axis.reach, axis.block);
        }
        if (part.last[i] < whole.shape[i] || axis.wraps) {
            exact.last[i] = (part.last[i] - axis.reach) / axis.block * axis.block;
        }
        if (exact.first[i] >= exact.last[i]) {
            return std::nullopt;
        }
    }
    return exact;
}

Box parse_part(const WholeInput& whole, const std::string& text) {
    const auto ranges = static_cast<std::size_t>(std::count(text.begin(), text.end(), ',')) + 1;
    if (ranges > whole.shape.size()) {
        refuse(text,
               fmt::format("it has {} ranges, and the input {} axes", ranges, whole.shape.size()));
    }
    Box box{std::vector<std::int64_t>(whole.shape.size(), 0), whole.shape};
    std::string_view rest = text;
    for (std::size_t axis = whole.shape.size() - ranges; axis < whole.shape.size(); ++axis) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        cut_to(whole, axis, rest.substr(0, comma), text, box);
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return box;
}

} // namespace runner::trial
