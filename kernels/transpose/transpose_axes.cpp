// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/transpose_axes.hpp"

#include <algorithm>

namespace runner {
namespace {

void remove_axis(TransposeAxes& axes, int i) {
    std::copy(axes.axis.begin() + i + 1, axes.axis.end(), axes.axis.begin() + i);
    axes.axis.back() = {};
    --axes.count;
}

TransposeAxis& at(TransposeAxes& axes, int i) { return axes.axis[static_cast<std::size_t>(i)]; }

void drop_single(TransposeAxes& axes) {
    for (int i = axes.count - 1; i >= 0; --i) {
        if (at(axes, i).extent == 1) {
            remove_axis(axes, i);
        }
    }
}

/// Makes neighbours on the output's side one axis where they are neighbours on the input's too.
void merge_neighbours(TransposeAxes& axes) {
    for (int i = axes.count - 2; i >= 0; --i) {
        const TransposeAxis& slow = at(axes, i);
        TransposeAxis fast = at(axes, i + 1);
        if (slow.in == fast.extent * fast.in && slow.out == fast.extent * fast.out) {
            fast.extent *= slow.extent;
            at(axes, i) = fast;
            remove_axis(axes, i + 1);
        }
    }
}

bool all_even(const TransposeAxes& axes, int but) {
    for (int i = 0; i < axes.count; ++i) {
        const TransposeAxis& axis = axes.axis[static_cast<std::size_t>(i)];
        if (i != but && (axis.in % 2 != 0 || axis.out % 2 != 0)) {
            return false;
        }
    }
    return true;
}

/// Takes pairs of elements for one where the fastest axis of both sides is the same.
void widen_elements(TransposeAxes& axes, const std::byte* in, const std::byte* out) {
    const auto places =
        reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out);
    for (int i = 0; i < axes.count; ++i) {
        TransposeAxis& axis = at(axes, i);
        if (axis.in != 1 || axis.out != 1) {
            continue;
        }
        while (axes.element_bytes < 16 && axis.extent % 2 == 0 &&
               places % static_cast<std::uintptr_t>(2 * axes.element_bytes) == 0 &&
               all_even(axes, i)) {
            axes.element_bytes *= 2;
            axis.extent /= 2;
            for (int k = 0; k < axes.count; ++k) {
                if (k != i) {
                    at(axes, k).in /= 2;
                    at(axes, k).out /= 2;
                }
            }
        }
    }
    drop_single(axes);
}

} // namespace

Transposition dense_transposition(const std::array<std::int64_t, 3>& shape,
                                  const std::array<int, 3>& permutation, int element_bytes) {
    const auto extent = [&](int axis) { return shape[static_cast<std::size_t>(axis)]; };
    return {shape,
            permutation,
            element_bytes,
            {shape[1] * shape[2], shape[2], 1},
            {extent(permutation[1]) * extent(permutation[2]), extent(permutation[2]), 1}};
}

int TransposeAxes::in_fastest() const {
    const auto end = axis.begin() + count;
    const auto least = std::min_element(axis.begin(), end,
                                        [](const auto& a, const auto& b) { return a.in < b.in; });
    return count == 0 ? -1 : static_cast<int>(least - axis.begin());
}

int TransposeAxes::out_fastest() const {
    const auto end = axis.begin() + count;
    const auto least = std::min_element(axis.begin(), end,
                                        [](const auto& a, const auto& b) { return a.out < b.out; });
    return count == 0 ? -1 : static_cast<int>(least - axis.begin());
}

std::int64_t TransposeAxes::elements() const {
    return axis[0].extent * axis[1].extent * axis[2].extent;
}

std::optional<CrossingAxes> crossing_axes(const TransposeAxes& axes) {
    if (axes.count < 2) {
        return std::nullopt;
    }
    const int in_fastest = axes.in_fastest();
    const int out_fastest = axes.out_fastest();
    const auto axis = [&](int i) { return axes.axis[static_cast<std::size_t>(i)]; };
    CrossingAxes result;
    if (in_fastest != out_fastest) {
        result.a = axis(in_fastest);
        result.b = axis(out_fastest);
        if (axes.count == 3) {
            result.c = axis(3 - in_fastest - out_fastest);
        }
        const bool dense = result.a.in == 1 && result.b.out == 1;
        return dense ? std::optional(result) : std::nullopt;
    }
    const TransposeAxis point = axis(in_fastest);
    if (axes.count < 3 || point.in != 1 || point.out != 1) {
        return std::nullopt;
    }
    result.point = point.extent;
    result.a = axis(in_fastest == 0 ? 1 : 0);
    result.b = axis(in_fastest == 2 ? 1 : 2);
    if (result.b.in == point.extent) {
        std::swap(result.a, result.b);
    }
    const bool dense = result.a.in == point.extent && result.b.out == point.extent;
    return dense ? std::optional(result) : std::nullopt;
}

TransposeAxes reduce_axes(const Transposition& transposition, const std::byte* in,
                          const std::byte* out) {
    TransposeAxes axes;
    axes.element_bytes = transposition.element_bytes;
    axes.count = 3;
    for (std::size_t i = 0; i < 3; ++i) {
        const auto from = static_cast<std::size_t>(transposition.permutation[i]);
        axes.axis[i] = {transposition.shape[from], transposition.in_strides[from],
                        transposition.out_strides[i]};
    }
    drop_single(axes);
    merge_neighbours(axes);
    widen_elements(axes, in, out);
    return axes;
}

} // namespace runner
