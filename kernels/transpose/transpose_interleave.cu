// SPDX-License-Identifier: BSD-3-Clause
// The interleave kernel: a few components become the fastest axis, or stop being it. Both sides are
// moved in aligned vectors of 16 bytes; runs lie in shared memory as far beyond a multiple of 16 as
// in memory, and a thread knows where the elements of its vectors are in every row.
#include "kernels/transpose/transpose_interleave_plan.hpp"

#include "kernels/queue/block_memory.cuh"
#include "kernels/queue/launch.cuh"
#include "kernels/transpose/transpose_interleave_runs.cuh"

namespace runner {
namespace {

using namespace interleave_cuda;

/// Where the elements of a thread's vector are in shared memory, in row 0.
template <int element> struct Components {
    static constexpr int count = 16 / element;
    int place[count];
};

/// `start` is where in the row the vector begins, from −15 on.
template <int element, class Box>
__device__ Components<element> components_at(const InterleaveCall& call, const Box& box,
                                             int start) {
    const InterleavePlan& plan = call.plan;
    constexpr int count = Components<element>::count;
    Components<element> result;
#pragma unroll
    for (int i = 0; i < count; ++i) {
        // A few points more, so that the number is not negative.
        const int number = start / element + i + count * plan.components;
        const Divided at = divide(static_cast<std::uint32_t>(number), call.components);
        const int along = static_cast<int>(at.quotient) - count;
        const int component = static_cast<int>(at.rest);
        const std::byte* run = box.planar + component * plan.planar_component +
                               (plan.run_each_along ? along * plan.planar_along : 0);
        result.place[i] = component * plan.shared_component + along * plan.shared_along +
                          static_cast<int>(beyond(run, 16));
    }
    return result;
}

/// The same from each element to the next, which takes fewer instructions. Where elements are
/// scattered, or few and large, the chain takes longer (0.75 of a copy to 0.82).
template <int element, class Box>
__device__ Components<element> walked_components_at(const InterleaveCall& call, const Box& box,
                                                    int start) {
    const InterleavePlan& plan = call.plan;
    constexpr int count = Components<element>::count;
    const Divided first = divide(
        static_cast<std::uint32_t>(start / element + count * plan.components), call.components);
    const int along = static_cast<int>(first.quotient) - count;
    int component = static_cast<int>(first.rest);
    // The place if all runs began at vectors, and the low bits of the address of the run that
    // holds the element, with the steps of both to the next component and to the next point.
    int place = component * plan.shared_component + along * plan.shared_along;
    const int point_step = plan.shared_along - (plan.components - 1) * plan.shared_component;
    const auto run_step = static_cast<std::uint32_t>(plan.planar_component);
    const std::uint32_t along_step =
        plan.run_each_along ? static_cast<std::uint32_t>(plan.planar_along) : 0U;
    const std::uint32_t run_point_step = along_step - (call.components.value - 1) * run_step;
    std::uint32_t run = beyond(box.planar, 16) + first.rest * run_step +
                        static_cast<std::uint32_t>(along) * along_step;
    Components<element> result;
#pragma unroll
    for (int i = 0; i < count; ++i) {
        result.place[i] = place + static_cast<int>(run & 15U);
        const bool last = ++component == plan.components;
        component = last ? 0 : component;
        run += last ? run_point_step : run_step;
        place += last ? point_step : plan.shared_component;
    }
    return result;
}

template <int element>
__device__ uint4 gather(const std::byte* shared, const Components<element>& components, int first,
                        int end) {
    std::uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < Components<element>::count; ++i) {
        const int k = i * element;
        if (k < first || k >= end) {
            continue;
        }
        const std::byte* place = shared + components.place[i];
        if constexpr (element == 16) {
            return *reinterpret_cast<const uint4*>(place);
        } else if constexpr (element == 8) {
            const auto value = *reinterpret_cast<const uint2*>(place);
            words[k / 4] = value.x;
            words[k / 4 + 1] = value.y;
        } else {
            const std::uint32_t value = *reinterpret_cast<const Word<element>*>(place);
            words[k / 4] |= value << (8 * (k % 4));
        }
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

template <int element>
__device__ void scatter(std::byte* shared, const Components<element>& components,
                        const uint4& value, int first, int end) {
    const std::uint32_t words[4] = {value.x, value.y, value.z, value.w};
#pragma unroll
    for (int i = 0; i < Components<element>::count; ++i) {
        const int k = i * element;
        if (k < first || k >= end) {
            continue;
        }
        std::byte* place = shared + components.place[i];
        if constexpr (element == 16) {
            *reinterpret_cast<uint4*>(place) = value;
        } else if constexpr (element == 8) {
            *reinterpret_cast<uint2*>(place) = uint2{words[k / 4], words[k / 4 + 1]};
        } else {
            *reinterpret_cast<Word<element>*>(place) =
                static_cast<Word<element>>(words[k / 4] >> (8 * (k % 4)));
        }
    }
}

/// Calls `move(rows, components, start, place, first_row)` for every vector of a row that the
/// thread has, `start` and `place` being those in `first_row`, its first row.
template <int element, bool walked, class Box, class F>
__device__ void for_each_vector(const InterleaveCall& call, const Box& box, F&& move) {
    const InterleavePlan& plan = call.plan;
    const Divided at = divide(threadIdx.x, call.lanes);
    const int first_row = static_cast<int>(at.quotient);
    if (first_row >= call.rows_at_once) {
        return;
    }
    // Other rows of the thread begin as far beyond a multiple of 16: all do where they are parts of
    // one, and elsewhere a thread steps by 32 rows.
    const std::int64_t pitch = plan.row != 0 ? plan.row : plan.interleaved_other;
    auto* row = box.interleaved + first_row * pitch;
    const int before = static_cast<int>(beyond(row, 16));
    const int rows = plan.row != 0 ? (before + box.row + plan.row - 1) / plan.row : box.others;
    const int end = plan.row != 0 ? plan.lanes : (before + box.row + 15) / 16;
    if (first_row >= rows) {
        return;
    }
    for (int vector = static_cast<int>(at.rest); vector < end; vector += plan.lanes) {
        const int start = 16 * vector - before;
        const auto components = walked ? walked_components_at<element>(call, box, start)
                                       : components_at<element>(call, box, start);
        move(rows, components, start, row + start, first_row, pitch);
    }
}

template <int element, class Box>
__device__ void write_interleaved(const InterleaveCall& call, const Box& box,
                                  const std::byte* shared) {
    const InterleavePlan& plan = call.plan;
    for_each_vector<element, element <= 4>(
        call, box,
        [&](int rows, const Components<element>& components, int start, std::byte* place,
            int first_row, std::int64_t pitch) {
            for (int row = first_row; row < rows; row += call.rows_at_once) {
                const int at = start + row * plan.row;
                const std::byte* from = shared + row * plan.shared_row;
                std::byte* to = place + (row - first_row) * pitch;
                if (at >= 0 && at + 16 <= box.row) {
                    store<Use::once>(to, gather<element>(from, components, 0, 16));
                } else if (at < box.row) {
                    store_vector<element>(to, gather<element>(from, components, -at, box.row - at),
                                          at, box.row);
                }
            }
        });
}

template <int element, class Box>
__device__ void read_interleaved(const InterleaveCall& call, const Box& box, std::byte* shared) {
    const InterleavePlan& plan = call.plan;
    for_each_vector<element, false>(
        call, box,
        [&](int rows, const Components<element>& components, int start, const std::byte* place,
            int first_row, std::int64_t pitch) {
            for (int first = first_row; first < rows; first += at_once * call.rows_at_once) {
                uint4 values[at_once];
#pragma unroll
                for (int i = 0; i < at_once; ++i) {
                    const int row = first + i * call.rows_at_once;
                    const int at = start + row * plan.row;
                    if (row < rows && at < box.row) {
                        values[i] =
                            load_vector<element>(place + (row - first_row) * pitch, at, box.row);
                    }
                }
#pragma unroll
                for (int i = 0; i < at_once; ++i) {
                    const int row = first + i * call.rows_at_once;
                    const int at = start + row * plan.row;
                    std::byte* to = shared + row * plan.shared_row;
                    if (row >= rows || at >= box.row) {
                        continue;
                    }
                    if (at >= 0 && at + 16 <= box.row) {
                        scatter<element>(to, components, values[i], 0, 16);
                    } else {
                        scatter<element>(to, components, values[i], -at, box.row - at);
                    }
                }
            }
        });
}

template <int element, InterleavePlan::Side interleaved>
__global__ void __launch_bounds__(threads) interleave_kernel(InterleaveCall call) {
    auto* shared = reinterpret_cast<std::byte*>(dynamic_shared());
    if constexpr (interleaved == InterleavePlan::Side::out) {
        const auto box = interleave_box(call, call.in, call.out);
        if constexpr (element <= most_async_element) {
            read_runs_async<element>(call, box, shared);
        } else {
            read_runs<element>(call, box, shared);
        }
        __syncthreads();
        write_interleaved<element>(call, box, shared);
    } else {
        const auto box = interleave_box(call, call.out, call.in);
        read_interleaved<element>(call, box, shared);
        __syncthreads();
        write_runs<element>(call, box, shared);
    }
}

using InterleaveKernel = void (*)(InterleaveCall);

template <InterleavePlan::Side interleaved> InterleaveKernel kernel_for(int element_bytes) {
    switch (element_bytes) {
    case 1: return interleave_kernel<1, interleaved>;
    case 2: return interleave_kernel<2, interleaved>;
    case 4: return interleave_kernel<4, interleaved>;
    case 8: return interleave_kernel<8, interleaved>;
    default: return interleave_kernel<16, interleaved>;
    }
}

} // namespace

void transpose_interleaved(CudaQueue& queue, const InterleavePlan& plan, const std::byte* in,
                           std::byte* out) {
    const auto divisor = [](std::int64_t n) { return make_divisor(static_cast<std::uint32_t>(n)); };
    const std::int64_t boxes_along = (plan.along + plan.box_along - 1) / plan.box_along;
    const std::int64_t others = (plan.others + plan.box_others - 1) / plan.box_others;
    InterleaveCall call{};
    call.plan = plan;
    call.in = in;
    call.out = out;
    call.boxes_along = divisor(boxes_along);
    call.components = divisor(plan.components);
    call.lanes = divisor(plan.lanes);
    const int run = (plan.run_each_along ? plan.box_others : plan.box_along) * plan.run_unit;
    call.run_vectors = divisor((run + 15) / 16 + 1);
    call.runs_along = divisor(plan.run_each_along ? plan.box_along : 1);
    call.rows_at_once = threads / plan.lanes;
    const InterleaveKernel kernel = plan.interleaved == InterleavePlan::Side::out
                                        ? kernel_for<InterleavePlan::Side::out>(plan.element_bytes)
                                        : kernel_for<InterleavePlan::Side::in>(plan.element_bytes);
    const KernelWork work{
        2.0 * static_cast<double>(plan.components * plan.along * plan.others * plan.element_bytes)};
    launch(queue,
           {dim3(static_cast<unsigned>(boxes_along * others)), dim3(threads),
            static_cast<std::size_t>(plan.shared_bytes), work},
           kernel, call);
}

} // namespace runner
