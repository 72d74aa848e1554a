// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/transpose_array.hpp"

#include <algorithm>

namespace runner {
namespace {

/// From an index of each axis of a row-major array to the next, in elements.
std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> shape) {
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t axis = shape.size(); axis-- > 1;) {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    return strides;
}

/// The axes in the output's order, without those of one index; neighbours of both sides are one.
std::vector<TransposeAxis> moved_axes(std::span<const std::int64_t> shape,
                                      std::span<const int> permutation) {
    std::vector<std::int64_t> permuted;
    for (const int axis : permutation) {
        permuted.push_back(shape[static_cast<std::size_t>(axis)]);
    }
    const std::vector<std::int64_t> in = dense_strides(shape);
    const std::vector<std::int64_t> out = dense_strides(permuted);
    std::vector<TransposeAxis> axes;
    for (std::size_t i = 0; i < permuted.size(); ++i) {
        const TransposeAxis axis{permuted[i], in[static_cast<std::size_t>(permutation[i])], out[i]};
        if (axis.extent == 1) {
            continue;
        }
        if (!axes.empty() && axes.back().in == axis.extent * axis.in) {
            axes.back() = {axes.back().extent * axis.extent, axis.in, axis.out};
        } else {
            axes.push_back(axis);
        }
    }
    return axes;
}

/// Takes the shortest axis out that is the fastest on neither side.
TransposeAxis take_shortest(std::vector<TransposeAxis>& axes) {
    auto shortest = axes.end();
    for (auto axis = axes.begin(); axis != axes.end(); ++axis) {
        const bool is_fastest = axis->in == 1 || axis->out == 1;
        if (!is_fastest && (shortest == axes.end() || axis->extent < shortest->extent)) {
            shortest = axis;
        }
    }
    const TransposeAxis taken = *shortest;
    axes.erase(shortest);
    return taken;
}

} // namespace

ArrayTransposition array_transposition(std::span<const std::int64_t> shape,
                                       std::span<const int> permutation, int element_bytes) {
    std::vector<TransposeAxis> axes = moved_axes(shape, permutation);
    ArrayTransposition made;
    while (axes.size() > made.each.shape.size()) {
        made.outside.push_back(take_shortest(axes));
    }
    axes.insert(axes.begin(), made.each.shape.size() - axes.size(), TransposeAxis{1, 1, 1});
    made.each.element_bytes = element_bytes;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        made.each.shape.at(i) = axes[i].extent;
        made.each.in_strides.at(i) = axes[i].in;
        made.each.out_strides.at(i) = axes[i].out;
    }
    std::sort(made.outside.begin(), made.outside.end(),
              [](const TransposeAxis& a, const TransposeAxis& b) { return a.out > b.out; });
    return made;
}

std::int64_t ArrayTransposition::count() const {
    std::int64_t all = 1;
    for (const TransposeAxis& axis : outside) {
        all *= axis.extent;
    }
    return all;
}

ArrayTransposition::Places ArrayTransposition::places(std::int64_t index) const {
    Places places;
    for (auto axis = outside.rbegin(); axis != outside.rend(); ++axis) {
        places.in += index % axis->extent * axis->in;
        places.out += index % axis->extent * axis->out;
        index /= axis->extent;
    }
    return places;
}

} // namespace runner
