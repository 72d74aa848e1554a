// SPDX-License-Identifier: BSD-3-Clause
// The box kernel: any strides and extents. A box is read in the input's order into shared memory
// and written from there in the output's, an element at a time.
#include "kernels/transpose/transpose_box_plan.hpp"

#include "kernels/queue/block_memory.cuh"
#include "kernels/queue/launch.cuh"
#include "kernels/transpose/transpose_box.cuh"

namespace runner {
namespace {

using namespace transpose_cuda;

constexpr int at_once = 8; ///< elements that a thread has in flight

template <class T>
__device__ void read_box(const T* in, const BoxRow* rows, std::uint32_t count, const BoxRow& column,
                         int limit, T* box) {
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
__device__ void write_box(T* out, const BoxRow* rows, std::uint32_t count, const BoxRow& column,
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

template <class T> __global__ void __launch_bounds__(BoxPlan::threads) box_kernel(BoxCall call) {
    auto* in_rows = reinterpret_cast<BoxRow*>(dynamic_shared());
    BoxRow* out_rows = in_rows + call.in_side.all_rows + at_once;
    auto* box = reinterpret_cast<T*>(out_rows + call.out_side.all_rows + at_once);
    const BoxPlace place = find_box(call);
    for (std::uint32_t i = threadIdx.x; i < call.in_side.all_rows + at_once;
         i += BoxPlan::threads) {
        in_rows[i] = make_row(call.in_side, place.extent, i);
    }
    for (std::uint32_t i = threadIdx.x; i < call.out_side.all_rows + at_once;
         i += BoxPlan::threads) {
        out_rows[i] = make_row(call.out_side, place.extent, i);
    }
    const BoxRow in_column = make_column(call.in_side, place.extent, threadIdx.x);
    const BoxRow out_column = make_column(call.out_side, place.extent, threadIdx.x);
    __syncthreads();
    read_box(reinterpret_cast<const T*>(call.in) + place.in, in_rows, call.in_side.all_rows,
             in_column, pick(place.extent, pick(call.in_side.axis, call.in_side.split)), box);
    __syncthreads();
    write_box(reinterpret_cast<T*>(call.out) + place.out, out_rows, call.out_side.all_rows,
              out_column, pick(place.extent, pick(call.out_side.axis, call.out_side.split)), box);
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

} // namespace

void transpose_by_boxes(CudaQueue& queue, const BoxPlan& plan, int group, const std::byte* in,
                        std::byte* out) {
    const CountedBoxes counted = count_boxes(plan, group, in, out);
    const std::size_t tables =
        sizeof(BoxRow) * (plan.in.all_rows + plan.out.all_rows + 2 * std::size_t{at_once});
    const KernelWork work{2.0 *
                          static_cast<double>(plan.axes.elements() * plan.axes.element_bytes)};
    launch(queue,
           {dim3(counted.boxes), dim3(BoxPlan::threads),
            tables + static_cast<std::size_t>(plan.shared_bytes), work},
           kernel_for(plan.axes.element_bytes), counted.call);
}

} // namespace runner
