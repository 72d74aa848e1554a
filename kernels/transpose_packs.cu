// SPDX-License-Identifier: BSD-3-Clause
// The box kernel for elements of 1 and 2 bytes: runs are read and written as words of 4 bytes, and
// a word of the output is gathered from shared memory.
#include "kernels/dynamic_shared.cuh"
#include "kernels/launch.cuh"
#include "kernels/transpose_box.cuh"
#include "kernels/transpose_boxes.hpp"

namespace runner {
namespace {

constexpr int at_once = 4; ///< words that a thread has in flight

/// Elements of a row that are in the box: those of its columns that are before the end of the
/// split axis. `limit` is the extent there.
__device__ int elements_of(const BoxSide& side, const BoxRow& row, int limit) {
    const int left = limit - row.start;
    const int faster = side.split == 0 ? 1 : static_cast<int>(side.columns[0]);
    const auto columns = static_cast<int>(pick(side.columns, side.split));
    return left <= 0 ? 0 : faster * min(left, columns);
}

/// A row as a run in memory: its length stands in place of its start on the split axis.
__device__ BoxRow make_run(const BoxSide& side, const int (&extent)[3], std::uint32_t index) {
    BoxRow row = make_row(side, extent, index);
    row.start = elements_of(side, row, pick(extent, pick(side.axis, side.split)));
    return row;
}

/// A thread's word in every so many rows.
struct WordPlace {
    int word;
    std::uint32_t row;
    std::uint32_t step; ///< rows that all threads take at once; 0 for a thread without work
};

__device__ WordPlace word_place(std::uint32_t words) {
    const std::uint32_t rows = BoxPlan::threads / words;
    const std::uint32_t row = threadIdx.x / words;
    return {static_cast<int>(threadIdx.x - row * words), row, row < rows ? rows : 0};
}

template <int element>
__device__ void read_runs(const BoxCall& call, const std::byte* in, const BoxRow* rows,
                          std::byte* box) {
    const WordPlace at = word_place((call.in_side.all_columns * element + 3) / 4);
    if (at.step == 0) {
        return;
    }
    const int first = 4 * at.word;
    for (std::uint32_t r = at.row; r < call.in_side.all_rows; r += at_once * at.step) {
        std::uint32_t values[at_once];
        int places[at_once];
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
            const std::uint32_t index = r + i * at.step;
            places[i] = -1;
            if (index < call.in_side.all_rows) {
                const BoxRow row = rows[index];
                if (first < row.start * element) {
                    values[i] = load_unaligned(in + row.offset * element + first, call.readable);
                    places[i] = row.shared * element + first;
                }
            }
        }
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
            if (places[i] >= 0) {
                *reinterpret_cast<std::uint32_t*>(box + places[i]) = values[i];
            }
        }
    }
}

/// `columns` says where in the box the elements of a run are, in bytes.
template <int element>
__device__ void write_runs(const BoxCall& call, std::byte* out, const BoxRow* rows,
                           const std::uint16_t* columns, const std::byte* box) {
    constexpr int in_word = 4 / element;
    using T = Word<element>;
    const WordPlace at = word_place((call.out_side.all_columns * element + 3) / 4 + 1);
    if (at.step == 0) {
        return;
    }
    const int last = static_cast<int>(call.out_side.all_columns) - 1;
    int places[in_word];
    int placed_for = -1;
    for (std::uint32_t r = at.row; r < call.out_side.all_rows; r += at.step) {
        const BoxRow row = rows[r];
        std::byte* to = out + row.offset * element;
        const int before = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) & 3U);
        const int start = 4 * at.word - before;
        const int bytes = row.start * element;
        if (start >= bytes) {
            continue;
        }
        if (before != placed_for) {
            placed_for = before;
#pragma unroll
            for (int i = 0; i < in_word; ++i) {
                const int column = start / element + i;
                places[i] = columns[min(max(column, 0), last)];
            }
        }
        const std::byte* from = box + row.shared * element;
        std::uint32_t value = 0;
#pragma unroll
        for (int i = 0; i < in_word; ++i) {
            if (start / element + i < row.start) {
                const std::uint32_t one = *reinterpret_cast<const T*>(from + places[i]);
                value |= one << (8 * element * i);
            }
        }
        store_bytes(to + start, value, -start, bytes - start);
    }
}

template <int element>
__global__ void __launch_bounds__(BoxPlan::threads) pack_kernel(BoxCall call) {
    auto* in_rows = reinterpret_cast<BoxRow*>(dynamic_shared());
    BoxRow* out_rows = in_rows + call.in_side.all_rows;
    auto* box = reinterpret_cast<std::byte*>(out_rows + call.out_side.all_rows);
    auto* columns = reinterpret_cast<std::uint16_t*>(box + call.box_bytes);
    const BoxPlace place = find_box(call);
    for (std::uint32_t i = threadIdx.x; i < call.in_side.all_rows; i += BoxPlan::threads) {
        in_rows[i] = make_run(call.in_side, place.extent, i);
    }
    for (std::uint32_t i = threadIdx.x; i < call.out_side.all_rows; i += BoxPlan::threads) {
        out_rows[i] = make_run(call.out_side, place.extent, i);
    }
    for (std::uint32_t i = threadIdx.x; i < call.out_side.all_columns; i += BoxPlan::threads) {
        columns[i] = static_cast<std::uint16_t>(make_column(call.out_side, place.extent, i).shared *
                                                element);
    }
    __syncthreads();
    read_runs<element>(call, call.in + place.in * element, in_rows, box);
    __syncthreads();
    write_runs<element>(call, call.out + place.out * element, out_rows, columns, box);
}

} // namespace

void transpose_by_packs(CudaQueue& queue, const BoxPlan& plan, int group, const std::byte* in,
                        std::byte* out) {
    const CountedBoxes counted = count_boxes(plan, group, in, out);
    const std::size_t bytes = sizeof(BoxRow) * (plan.in.all_rows + plan.out.all_rows) +
                              sizeof(std::uint16_t) * plan.out.all_columns +
                              static_cast<std::size_t>(counted.call.box_bytes);
    const LaunchShape shape{dim3(counted.boxes), dim3(BoxPlan::threads), bytes};
    if (plan.axes.element_bytes == 1) {
        launch(queue, shape, pack_kernel<1>, counted.call);
    } else {
        launch(queue, shape, pack_kernel<2>, counted.call);
    }
}

} // namespace runner
