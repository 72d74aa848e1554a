// SPDX-License-Identifier: BSD-3-Clause
// The box kernel: any strides and extents. A box is read in the input's order into shared memory
// and written from there in the output's, an element at a time.
#include "kernels/transpose_boxes.hpp"

#include "kernels/dynamic_shared.cuh"
#include "kernels/launch.cuh"
#include "kernels/transpose_device.cuh"

#include <algorithm>
#include <limits>

namespace runner {
namespace {

constexpr int at_once = 8; ///< elements that a thread has in flight

struct BoxCall {
    const std::byte* in;
    std::byte* out;
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
    BoxSide in_side;
    BoxSide out_side;
};

/// A row of columns: what its elements add to the column's offsets.
struct alignas(16) BoxRow {
    std::int64_t offset; ///< elements
    int shared;
    int start; ///< on the split axis; beyond every extent where the row is outside
};

struct BoxColumn {
    std::int64_t offset;
    int shared;
    int start;
};

/// values[index] of values that are in registers.
template <class Values> __device__ auto pick(const Values& values, int index) {
    return index == 0 ? values[0] : index == 1 ? values[1] : values[2];
}

constexpr int outside = std::numeric_limits<int>::max() / 2;

/// Row `index` of a side, `extent` being those of the box's axes.
__device__ BoxRow make_row(const BoxSide& side, const int (&extent)[3], std::uint32_t index) {
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
    result.start = inside ? result.start : outside;
    return result;
}

__device__ BoxColumn make_column(const BoxSide& side, const int (&extent)[3]) {
    const Divided first = divide(threadIdx.x, side.column_divisor[0]);
    const Divided second = divide(first.quotient, side.column_divisor[1]);
    const std::uint32_t column[3] = {first.rest, second.rest, second.quotient};
    BoxColumn result{0, 0, 0};
    bool inside = threadIdx.x < side.all_columns;
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
    result.start = inside ? result.start : outside;
    return result;
}

template <class T>
__device__ void read_box(const T* in, const BoxRow* rows, std::uint32_t count,
                         const BoxColumn& column, int limit, T* box) {
    in += column.offset;
    box += column.shared;
    for (std::uint32_t r = 0; r < count; r += at_once) {
        T values[at_once];
        int places[at_once];
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
            const BoxRow row = rows[r + i];
            places[i] = row.start + column.start < limit ? row.shared : -1;
            if (places[i] >= 0) {
                values[i] = __ldg(in + row.offset);
            }
        }
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
            if (places[i] >= 0) {
                box[places[i]] = values[i];
            }
        }
    }
}

template <class T>
__device__ void write_box(T* out, const BoxRow* rows, std::uint32_t count, const BoxColumn& column,
                          int limit, const T* box) {
    out += column.offset;
    box += column.shared;
    for (std::uint32_t r = 0; r < count; r += at_once) {
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
            const BoxRow row = rows[r + i];
            if (row.start + column.start < limit) {
                out[row.offset] = box[row.shared];
            }
        }
    }
}

/// The box's place along each axis.
__device__ void find_box(const BoxCall& call, std::int64_t (&place)[3]) {
    const Divided batch = divide(blockIdx.x, call.plane);
    const Divided band = divide(batch.rest, call.band);
    const Divided within =
        divide(band.rest, band.quotient == call.last_band ? call.last_height : call.height);
    const std::uint32_t index[3] = {band.quotient * call.height.value + within.rest,
                                    within.quotient, batch.quotient};
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        place[i] = static_cast<std::int64_t>(pick(index, call.counted[i])) * call.box[i];
    }
}

template <class T> __global__ void __launch_bounds__(BoxPlan::threads) box_kernel(BoxCall call) {
    auto* in_rows = reinterpret_cast<BoxRow*>(dynamic_shared());
    BoxRow* out_rows = in_rows + call.in_side.all_rows + at_once;
    auto* box = reinterpret_cast<T*>(out_rows + call.out_side.all_rows + at_once);
    std::int64_t place[3];
    find_box(call, place);
    int extent[3];
    std::int64_t in_offset = 0;
    std::int64_t out_offset = 0;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        extent[i] = static_cast<int>(
            min(static_cast<std::int64_t>(call.box[i]), call.extent[i] - place[i]));
        in_offset += place[i] * call.in_stride[i];
        out_offset += place[i] * call.out_stride[i];
    }
    for (std::uint32_t i = threadIdx.x; i < call.in_side.all_rows + at_once;
         i += BoxPlan::threads) {
        in_rows[i] = make_row(call.in_side, extent, i);
    }
    for (std::uint32_t i = threadIdx.x; i < call.out_side.all_rows + at_once;
         i += BoxPlan::threads) {
        out_rows[i] = make_row(call.out_side, extent, i);
    }
    const BoxColumn in_column = make_column(call.in_side, extent);
    const BoxColumn out_column = make_column(call.out_side, extent);
    __syncthreads();
    read_box(reinterpret_cast<const T*>(call.in) + in_offset, in_rows, call.in_side.all_rows,
             in_column, pick(extent, pick(call.in_side.axis, call.in_side.split)), box);
    __syncthreads();
    write_box(reinterpret_cast<T*>(call.out) + out_offset, out_rows, call.out_side.all_rows,
              out_column, pick(extent, pick(call.out_side.axis, call.out_side.split)), box);
}

using BoxKernel = void (*)(BoxCall);

BoxKernel kernel_for(int element_bytes) {
    switch (element_bytes) {
    case 1: return box_kernel<std::uint8_t>;
    case 2: return box_kernel<std::uint16_t>;
    case 4: return box_kernel<std::uint32_t>;
    case 8: return box_kernel<uint2>;
    default: return box_kernel<uint4>;
    }
}

/// Boxes are counted along the output's fastest axis, then the input's, then the other.
std::array<int, 3> count_order(const BoxPlan& plan) {
    const int first = plan.out.axis[0];
    const int second = plan.in.axis[0] != first ? plan.in.axis[0] : plan.out.axis[1];
    return {first, second, 3 - first - second};
}

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

} // namespace

void transpose_by_boxes(CudaQueue& queue, const BoxPlan& plan, int group, const std::byte* in,
                        std::byte* out) {
    BoxCall call{};
    call.in = in;
    call.out = out;
    call.in_side = plan.in;
    call.out_side = plan.out;
    std::int64_t counts[3];
    for (std::size_t i = 0; i < 3; ++i) {
        const TransposeAxis& axis = plan.axes.axis[i];
        call.extent[i] = axis.extent;
        call.box[i] = plan.extent[i];
        call.in_stride[i] = axis.in;
        call.out_stride[i] = axis.out;
        counts[i] = ceil_divide(axis.extent, plan.extent[i]);
    }
    const std::array<int, 3> order = count_order(plan);
    for (int i = 0; i < 3; ++i) {
        call.counted[order[static_cast<std::size_t>(i)]] = i;
    }
    const std::int64_t first = counts[order[0]];
    const std::int64_t second = counts[order[1]];
    const std::int64_t height = std::min<std::int64_t>(group, first);
    const std::int64_t bands = ceil_divide(first, height);
    const auto divisor = [](std::int64_t n) { return make_divisor(static_cast<std::uint32_t>(n)); };
    call.plane = divisor(first * second);
    call.band = divisor(height * second);
    call.height = divisor(height);
    call.last_height = divisor(first - (bands - 1) * height);
    call.last_band = static_cast<std::uint32_t>(bands - 1);
    const auto boxes = static_cast<unsigned>(counts[0] * counts[1] * counts[2]);
    const std::size_t tables =
        sizeof(BoxRow) * (plan.in.all_rows + plan.out.all_rows + 2 * std::size_t{at_once});
    launch(
        queue,
        {dim3(boxes), dim3(BoxPlan::threads), tables + static_cast<std::size_t>(plan.shared_bytes)},
        kernel_for(plan.axes.element_bytes), call);
}

} // namespace runner
