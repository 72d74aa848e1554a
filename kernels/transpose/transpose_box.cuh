// SPDX-License-Identifier: BSD-3-Clause
// What the kernels that work in boxes share: a box's place, and rows and columns of one side of it.
#pragma once

#include "kernels/transpose/transpose_box_plan.hpp"
#include "kernels/transpose/transpose_device.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace runner::transpose_cuda {

struct BoxCall {
    const std::byte* in;
    std::byte* out;
    Readable readable;
    std::int64_t extent[3];
    int box[3];
    std::int64_t in_stride[3]; ///< elements
    std::int64_t out_stride[3];
    int counted[3]; ///< in which place the axis stands when boxes are counted
    Divisor plane;  ///< boxes of the first two
    Divisor band;   ///< boxes of `height` along the first, all along the second
    Divisor height;
    Divisor last_height;
    std::uint32_t last_band;
    int box_bytes; ///< in shared memory, a multiple of 16
    BoxSide in_side;
    BoxSide out_side;
};

/// A row of columns: what its elements add to the column's offsets.
struct alignas(16) BoxRow {
    std::int64_t offset; ///< elements
    int shared;
    int start; ///< on the split axis; beyond every extent where the row is outside
};

/// values[index] of values that are in registers.
template <class Values> __device__ auto pick(const Values& values, int index) {
    return index == 0 ? values[0] : index == 1 ? values[1] : values[2];
}

constexpr int outside_box = std::numeric_limits<int>::max() / 2;

/// Row `index` of a side, `extent` being those of the box's axes.
__device__ inline BoxRow make_row(const BoxSide& side, const int (&extent)[3],
                                  std::uint32_t index) {
    const Divided first = divide(index, side.row_divisor[0]);
    const Divided second = divide(first.quotient, side.row_divisor[1]);
    const std::uint32_t row[3] = {first.rest, second.rest, second.quotient};
    BoxRow result{0, 0, 0};
    bool inside = index < side.all_rows;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const int coordinate = static_cast<int>(row[i] * side.columns[i]);
        result.offset += coordinate * side.stride[i];
        result.shared += coordinate * side.shared[i];
        inside = inside && coordinate < pick(extent, side.axis[i]);
        if (i == side.split) {
            result.start = coordinate;
        }
    }
    result.start = inside ? result.start : outside_box;
    return result;
}

/// The same for column `index`.
__device__ inline BoxRow make_column(const BoxSide& side, const int (&extent)[3],
                                     std::uint32_t index) {
    const Divided first = divide(index, side.column_divisor[0]);
    const Divided second = divide(first.quotient, side.column_divisor[1]);
    const std::uint32_t column[3] = {first.rest, second.rest, second.quotient};
    BoxRow result{0, 0, 0};
    bool inside = index < side.all_columns;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const int coordinate = static_cast<int>(column[i]);
        result.offset += coordinate * side.stride[i];
        result.shared += coordinate * side.shared[i];
        inside = inside && coordinate < pick(extent, side.axis[i]);
        if (i == side.split) {
            result.start = coordinate;
        }
    }
    result.start = inside ? result.start : outside_box;
    return result;
}

/// Where a box is and how much of it is there.
struct BoxPlace {
    int extent[3];
    std::int64_t in; ///< elements
    std::int64_t out;
};

__device__ inline BoxPlace find_box(const BoxCall& call) {
    const Divided batch = divide(blockIdx.x, call.plane);
    const Divided band = divide(batch.rest, call.band);
    const Divided within =
        divide(band.rest, band.quotient == call.last_band ? call.last_height : call.height);
    const std::uint32_t index[3] = {band.quotient * call.height.value + within.rest,
                                    within.quotient, batch.quotient};
    BoxPlace result{};
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const std::int64_t place =
            static_cast<std::int64_t>(pick(index, call.counted[i])) * call.box[i];
        result.extent[i] =
            static_cast<int>(min(static_cast<std::int64_t>(call.box[i]), call.extent[i] - place));
        result.in += place * call.in_stride[i];
        result.out += place * call.out_stride[i];
    }
    return result;
}

/// A call and its number of boxes, which are counted along the output's fastest axis, then the
/// input's, then the other.
struct CountedBoxes {
    BoxCall call;
    unsigned boxes;
};

inline CountedBoxes count_boxes(const BoxPlan& plan, int group, const std::byte* in,
                                std::byte* out) {
    const auto divide_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    const auto divisor = [](std::int64_t n) { return make_divisor(static_cast<std::uint32_t>(n)); };
    BoxCall call{};
    call.in = in;
    call.out = out;
    call.box_bytes = static_cast<int>((plan.shared_bytes + 15) / 16 * 16);
    call.in_side = plan.in;
    call.out_side = plan.out;
    std::int64_t counts[3];
    std::int64_t last = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        const TransposeAxis& axis = plan.axes.axis[i];
        call.extent[i] = axis.extent;
        call.box[i] = plan.extent[i];
        call.in_stride[i] = axis.in;
        call.out_stride[i] = axis.out;
        counts[i] = divide_up(axis.extent, plan.extent[i]);
        last += (axis.extent - 1) * axis.in;
    }
    call.readable = {in, in + (last + 1) * plan.axes.element_bytes};
    const int first = plan.out.axis[0];
    const int second = plan.in.axis[0] != first ? plan.in.axis[0] : plan.out.axis[1];
    call.counted[first] = 0;
    call.counted[second] = 1;
    call.counted[3 - first - second] = 2;
    const std::int64_t height = std::min<std::int64_t>(group, counts[first]);
    const std::int64_t bands = divide_up(counts[first], height);
    call.plane = divisor(counts[first] * counts[second]);
    call.band = divisor(height * counts[second]);
    call.height = divisor(height);
    call.last_height = divisor(counts[first] - (bands - 1) * height);
    call.last_band = static_cast<std::uint32_t>(bands - 1);
    return {call, static_cast<unsigned>(counts[0] * counts[1] * counts[2])};
}

} // namespace runner::transpose_cuda
