// SPDX-License-Identifier: BSD-3-Clause
// What the interleave kernel's blocks of threads move, and the side that consists of runs: aligned
// vectors, which lie in shared memory as far beyond a multiple of 16 bytes as in memory.
#pragma once

#include "kernels/queue/block_memory.cuh"
#include "kernels/transpose/transpose_interleave_plan.hpp"
#include "kernels/transpose/transpose_shift.cuh"

#include <cstdint>

namespace runner::interleave_cuda {

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

/// The same by asynchronous copies, but for vectors that are not all of a run.
template <int element, class Box>
__device__ void read_runs_async(const InterleaveCall& call, const Box& box, std::byte* shared) {
    const int all =
        call.plan.run_components * static_cast<int>(call.runs_along.value * call.run_vectors.value);
#pragma unroll 2
    for (int i = static_cast<int>(threadIdx.x); i < all; i += threads) {
        const auto vector = run_vector(call, box, i);
        if (vector.start >= 0 && vector.start + 16 <= box.run) {
            copy_async<16>(shared + vector.shared, vector.place);
        } else if (vector.start < box.run) {
            *reinterpret_cast<uint4*>(shared + vector.shared) =
                load_vector<element>(vector.place, vector.start, box.run);
        }
    }
    commit_copies();
    wait_for_copies<0>();
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

} // namespace runner::interleave_cuda
