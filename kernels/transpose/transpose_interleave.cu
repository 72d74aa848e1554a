// SPDX-License-Identifier: BSD-3-Clause
// The interleave kernel: a few components become the fastest axis, or stop being it. Both sides are
// moved in aligned vectors of 16 bytes; runs lie in shared memory as far beyond a multiple of 16 as
// in memory, and a thread knows where the elements of its vectors are in every row.
#include "kernels/transpose/transpose_interleave.hpp"

#include "kernels/queue/dynamic_shared.cuh"
#include "kernels/queue/launch.cuh"
#include "kernels/transpose/transpose_shift.cuh"

namespace runner {
namespace {

using namespace transpose_cuda;

constexpr int threads = 256;
constexpr int at_once = 4; ///< vectors that a thread has in flight

struct InterleaveCall {
    InterleavePlan plan;
    const std::byte* in;
    std::byte* out;
    Divisor boxes_along;
    Divisor components;
    Divisor lanes;
    Divisor run_vectors; ///< of a whole box's run, wherever it begins
    Divisor runs_along;
    int rows_at_once; ///< that all threads are at
};

/// What one block of threads moves.
template <class Planar, class Interleaved> struct InterleaveBox {
    Planar* planar;
    Interleaved* interleaved;
    int along;
    int others;
    int run; ///< bytes
    int row; ///< bytes of all that is dense on the interleaved side
};

template <class Planar, class Interleaved>
__device__ InterleaveBox<Planar, Interleaved>
interleave_box(const InterleaveCall& call, Planar* planar, Interleaved* interleaved) {
    const InterleavePlan& plan = call.plan;
    const Divided at = divide(blockIdx.x, call.boxes_along);
    const std::int64_t along = static_cast<std::int64_t>(at.rest) * plan.box_along;
    const std::int64_t other = static_cast<std::int64_t>(at.quotient) * plan.box_others;
    const int point = plan.components * plan.element_bytes;
    InterleaveBox<Planar, Interleaved> box;
    box.planar = planar + along * plan.planar_along + other * plan.planar_other;
    box.interleaved = interleaved + along * point + other * plan.interleaved_other;
    box.along =
        static_cast<int>(min(static_cast<std::int64_t>(plan.box_along), plan.along - along));
    box.others =
        static_cast<int>(min(static_cast<std::int64_t>(plan.box_others), plan.others - other));
    box.run = (plan.run_each_along ? box.others : box.along) * plan.run_unit;
    box.row = box.along * point;
    return box;
}

/// Loads those of the 16 bytes at `from`, an aligned address, whose numbers are in [first, end).
template <int element> __device__ uint4 load_elements(const std::byte* from, int first, int end) {
    std::uint32_t words[4] = {0, 0, 0, 0};
    if constexpr (element <= 8) {
#pragma unroll
        for (int k = 0; k < 16; k += element) {
            if (k < first || k + element > end) {
                continue;
            }
            if constexpr (element == 8) {
                const uint2 value = load<Use::again, uint2>(from + k);
                words[k / 4] = value.x;
                words[k / 4 + 1] = value.y;
            } else {
                const std::uint32_t value = load<Use::again, Word<element>>(from + k);
                words[k / 4] |= value << (8 * (k % 4));
            }
        }
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

/// Elements in [start, start + 16) of `length` bytes, `start` from −15 on.
template <int element> __device__ uint4 load_vector(const std::byte* from, int start, int length) {
    if (start >= 0 && start + 16 <= length) {
        return load<Use::once, uint4>(from);
    }
    return load_elements<element>(from, -start, length - start);
}

template <int element>
__device__ void store_vector(std::byte* to, const uint4& value, int start, int length) {
    if (start >= 0 && start + 16 <= length) {
        store<Use::once>(to, value);
    } else if constexpr (element <= 8) {
        store_elements<element>(to, value, -start, length - start);
    }
}

/// A vector of a run: where it is in the run, in memory and in shared memory.
template <class Planar> struct RunVector {
    Planar* place;
    int start; ///< the run's length where there is nothing
    int shared;
};

template <class Planar, class Interleaved>
__device__ RunVector<Planar> run_vector(const InterleaveCall& call,
                                        const InterleaveBox<Planar, Interleaved>& box, int index) {
    const InterleavePlan& plan = call.plan;
    const Divided of_run = divide(static_cast<std::uint32_t>(index), call.run_vectors);
    const Divided of_component = divide(of_run.quotient, call.runs_along);
    const auto vector = static_cast<int>(of_run.rest);
    const auto along = static_cast<int>(of_component.rest);
    const auto component = static_cast<int>(of_component.quotient);
    RunVector<Planar> result{box.planar, box.run, 0};
    if (component < plan.run_components && along < box.along) {
        Planar* begin = box.planar + component * plan.planar_component +
                        (plan.run_each_along ? along * plan.planar_along : 0);
        result.start = 16 * vector - static_cast<int>(beyond(begin, 16));
        result.place = begin + result.start;
        result.shared =
            component * plan.shared_run_component + along * plan.shared_run_along + 16 * vector;
    }
    return result;
}

template <int element, class Box>
__device__ void read_runs(const InterleaveCall& call, const Box& box, std::byte* shared) {
    const int all =
        call.plan.run_components * static_cast<int>(call.runs_along.value * call.run_vectors.value);
    for (int i = static_cast<int>(threadIdx.x); i < all; i += at_once * threads) {
        uint4 values[at_once];
        int places[at_once];
#pragma unroll
        for (int j = 0; j < at_once; ++j) {
            const auto vector = run_vector(call, box, i + j * threads);
            places[j] = vector.start < box.run ? vector.shared : -1;
            if (places[j] >= 0) {
                values[j] = load_vector<element>(vector.place, vector.start, box.run);
            }
        }
#pragma unroll
        for (int j = 0; j < at_once; ++j) {
            if (places[j] >= 0) {
                *reinterpret_cast<uint4*>(shared + places[j]) = values[j];
            }
        }
    }
}

template <int element, class Box>
__device__ void write_runs(const InterleaveCall& call, const Box& box, const std::byte* shared) {
    const int all =
        call.plan.run_components * static_cast<int>(call.runs_along.value * call.run_vectors.value);
#pragma unroll 2
    for (int i = static_cast<int>(threadIdx.x); i < all; i += threads) {
        const auto vector = run_vector(call, box, i);
        if (vector.start < box.run) {
            store_vector<element>(vector.place,
                                  *reinterpret_cast<const uint4*>(shared + vector.shared),
                                  vector.start, box.run);
        }
    }
}

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
template <int element, class Box, class F>
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
        move(rows, components_at<element>(call, box, start), start, row + start, first_row, pitch);
    }
}

template <int element, class Box>
__device__ void write_interleaved(const InterleaveCall& call, const Box& box,
                                  const std::byte* shared) {
    const InterleavePlan& plan = call.plan;
    for_each_vector<element>(
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
    for_each_vector<element>(
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
        read_runs<element>(call, box, shared);
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
