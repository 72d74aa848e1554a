// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/reduce/reduce_shape.hpp"

#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>

namespace runner {
namespace {

/// An axis of the array where its rows are in order.
struct Dimension {
    std::size_t axis = 0; ///< of the array
    std::int64_t extent = 1;
    bool is_reduced = false;
    std::int64_t stride = 1; ///< elements

    bool is_split() const { return extent > 1; }
};

std::int64_t product(std::span<const Dimension> dimensions) {
    std::int64_t product = 1;
    for (const Dimension& each : dimensions) {
        product *= each.extent;
    }
    return product;
}

/// The axes of rows, and last that within a row: in an array of one axis each element is a row.
std::vector<Dimension> dimensions_of(const std::vector<std::int64_t>& shape,
                                     const std::vector<bool>& is_reduced) {
    std::vector<Dimension> all;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        all.push_back({axis, shape[axis], is_reduced[axis]});
    }
    if (all.size() == 1) {
        all.push_back({1});
    }
    return all;
}

/// The first of the dimensions from `from` on that is reduced, or kept.
std::size_t first_that(const std::vector<Dimension>& all, std::size_t from, bool is_reduced) {
    const auto found = std::find_if(
        all.begin() + static_cast<std::ptrdiff_t>(from), all.end() - 1,
        [&](const Dimension& each) { return each.is_split() && each.is_reduced == is_reduced; });
    return static_cast<std::size_t>(found - all.begin());
}

/// Puts the first axes behind the other axes of rows where these are kept and the first reduced.
std::optional<RowOrder> put_in_order(std::vector<Dimension>& all) {
    const std::size_t kept = first_that(all, 0, false);
    if (first_that(all, 0, true) > kept || kept + 1 == all.size()) {
        return std::nullopt;
    }
    const auto begin = all.begin();
    const auto second = begin + static_cast<std::ptrdiff_t>(kept);
    const RowOrder order{product({begin, second}), product({second, all.end() - 1})};
    std::rotate(begin, second, all.end() - 1);
    return order;
}

/// The axes, in the order of the array's, as few as describe their elements; nothing where these
/// are more than three.
std::optional<std::array<GroupAxis, 3>> joined_axes(std::vector<Dimension> group, bool is_reduced) {
    std::erase_if(group, [&](const Dimension& each) {
        return !each.is_split() || each.is_reduced != is_reduced;
    });
    std::sort(group.begin(), group.end(),
              [](const Dimension& a, const Dimension& b) { return a.axis < b.axis; });
    std::vector<GroupAxis> axes;
    for (const Dimension& each : group) {
        if (!axes.empty() && axes.back().stride == each.extent * each.stride) {
            axes.back() = {axes.back().extent * each.extent, each.stride};
        } else {
            axes.push_back({each.extent, each.stride});
        }
    }
    std::array<GroupAxis, 3> all;
    if (axes.size() > all.size()) {
        return std::nullopt;
    }
    std::copy_backward(axes.begin(), axes.end(), all.end());
    return all;
}

std::vector<std::int64_t> output_shape(const std::vector<std::int64_t>& shape,
                                       const std::vector<bool>& is_reduced,
                                       const PlaceResults& results) {
    std::vector<std::int64_t> output;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (!is_reduced[axis]) {
            output.push_back(shape[axis]);
        }
    }
    if (results.is_axis || output.empty()) {
        output.push_back(results.count);
    }
    return output;
}

/// Which rows of the output belong to the groups: `groups` in all, each of `made` elements.
void divide(ReduceShape& shape, std::int64_t groups, std::int64_t made) {
    const std::int64_t row = shape.output.size() > 1 ? shape.output.back() : 1;
    const std::int64_t frame = shape.output[row_axes(shape.output) - 1]; // rows of the output
    const std::int64_t groups_of_row = made % row == 0 ? 1 : row; // which then makes one element
    shape.made.layer = shape.group_rows * groups_of_row;
    shape.made.each = std::max<std::int64_t>(1, made / row);
    const std::int64_t layers = groups / groups_of_row;
    const std::int64_t layers_of_frame = shape.made.each % frame == 0 ? 1 : frame / shape.made.each;
    shape.frames = layers / layers_of_frame;
    shape.rows = layers_of_frame * shape.made.layer;
}

} // namespace

std::optional<ReduceShape> reduce_shape(const std::vector<std::int64_t>& shape,
                                        const std::vector<bool>& is_reduced,
                                        const PlaceResults& results) {
    ReduceShape made;
    made.output = output_shape(shape, is_reduced, results);
    std::vector<Dimension> all = dimensions_of(shape, is_reduced);
    made.order = put_in_order(all);
    std::int64_t stride = 1;
    for (auto each = all.rbegin(); each != all.rend(); ++each) {
        each->stride = stride;
        stride *= each->extent;
    }
    const auto group = all.begin() + static_cast<std::ptrdiff_t>(first_that(all, 0, true));
    const auto reduced = joined_axes({group, all.end()}, true);
    const auto kept = joined_axes({group, all.end()}, false);
    if (!reduced || !kept) {
        return std::nullopt;
    }
    made.reduced = *reduced;
    made.kept = *kept;
    made.group_rows = product({group, all.end() - 1});
    const std::int64_t places = made.kept[0].extent * made.kept[1].extent * made.kept[2].extent;
    divide(made, product({all.begin(), group}), places * results.count);
    return made;
}

} // namespace runner
