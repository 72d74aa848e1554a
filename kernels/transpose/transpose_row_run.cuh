// SPDX-License-Identifier: BSD-3-Clause
// Rows of any length that are neighbours in the output, which is one run. They come to shared
// memory as they are, and each is followed there by the begin of the next. So the 16 bytes of every
// aligned vector of the output lie together in shared memory, also where a row ends in it.
#pragma once

#include "kernels/queue/block_memory.cuh"
#include "kernels/transpose/transpose_shift.cuh"

#include <cstdint>

namespace runner::transpose_cuda {

/// Rows in the output's order. Lengths are bytes.
struct RowRunCall {
    static constexpr int threads = 256;
    static constexpr int at_once = 4;                   ///< vectors that a thread writes
    static constexpr int part = 16 * threads * at_once; ///< of the run, a block of threads'
    static constexpr int align = 32;                    ///< at whose multiples parts begin

    const std::byte* in;
    std::byte* out;
    Readable readable;
    std::int64_t bytes; ///< of the run
    std::int64_t in_fast;
    std::int64_t in_slow;
    double row_inverse;
    Divisor row;      ///< bytes of one, at least 16
    Divisor fast;     ///< rows along the faster axis
    Divisor lanes;    ///< threads side by side along a row
    int rows_at_once; ///< that all threads are at
    int pitch;        ///< in shared memory, from a row to the next
    int table;        ///< bytes before the rows: where each is
};

/// The part of a block of threads: `length` bytes of the run that begin `rest` bytes into row
/// `row`; of the first part's first vector `skipped` bytes are before the run.
struct RowRunPart {
    std::byte* to;
    int skipped;
    int length;
    std::uint32_t row;
    int rest;
    int rows;
};

__device__ inline RowRunPart row_run_part(const RowRunCall& call) {
    const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * RowRunCall::part -
                               static_cast<std::int64_t>(beyond(call.out, RowRunCall::align));
    const std::int64_t first = max(begin, std::int64_t{0});
    RowRunPart part;
    part.to = call.out + begin;
    part.skipped = static_cast<int>(first - begin);
    part.length = static_cast<int>(
        min(call.bytes - first, static_cast<std::int64_t>(RowRunCall::part - part.skipped)));
    auto row = static_cast<std::int64_t>(static_cast<double>(first) * call.row_inverse);
    std::int64_t rest = first - row * call.row.value;
    // The product of floating-point numbers may be off by one.
    if (rest < 0) {
        --row;
        rest += call.row.value;
    } else if (rest >= call.row.value) {
        ++row;
        rest -= call.row.value;
    }
    part.row = static_cast<std::uint32_t>(row);
    part.rest = static_cast<int>(rest);
    part.rows = static_cast<int>(
                    quotient(static_cast<std::uint32_t>(part.rest + part.length - 1), call.row)) +
                1;
    return part;
}

/// What the part holds of its rows, each as far beyond a multiple of 32 bytes as in the input.
/// @param places where each row begins or would begin, counted from `shared`
__device__ inline void read_rows(const RowRunCall& call, const RowRunPart& part, int* places,
                                 std::byte* shared) {
    const Divided thread = divide(threadIdx.x, call.lanes);
    if (static_cast<int>(thread.quotient) >= call.rows_at_once) {
        return;
    }
    for (int r = static_cast<int>(thread.quotient); r < part.rows; r += call.rows_at_once) {
        const Divided at = divide(part.row + static_cast<std::uint32_t>(r), call.fast);
        const int first = r == 0 ? part.rest : 0;
        const int end = min(static_cast<int>(call.row.value),
                            part.rest + part.length - r * static_cast<int>(call.row.value));
        const std::byte* from =
            call.in + at.quotient * call.in_slow + at.rest * call.in_fast + first;
        const int before = static_cast<int>(beyond(from, RowRunCall::align));
        const int bytes = before + end - first;
        from -= before;
        if (thread.rest == 0) {
            places[r] = r * call.pitch + before - first;
        }
        const bool inside =
            from >= call.readable.begin && from + (bytes + 15) / 16 * 16 <= call.readable.end;
        for (int i = 16 * static_cast<int>(thread.rest); i < bytes;
             i += 16 * static_cast<int>(call.lanes.value)) {
            if (inside) {
                copy_async<16>(shared + r * call.pitch + i, from + i);
            } else {
                copy_readable(shared + r * call.pitch + i, from + i, call.readable);
            }
        }
    }
}

/// Puts the begin of the next row after each.
__device__ inline void join_rows(const RowRunCall& call, const RowRunPart& part, const int* places,
                                 std::byte* shared) {
    for (int i = static_cast<int>(threadIdx.x); i < 16 * (part.rows - 1);
         i += RowRunCall::threads) {
        const int r = i / 16;
        shared[places[r] + static_cast<int>(call.row.value) + i % 16] =
            shared[places[r + 1] + i % 16];
    }
}

__device__ inline void write_run(const RowRunCall& call, const RowRunPart& part, const int* places,
                                 const std::byte* shared) {
#pragma unroll
    for (int i = 0; i < RowRunCall::at_once; ++i) {
        const int vector = 16 * (static_cast<int>(threadIdx.x) + i * RowRunCall::threads);
        const int at = vector - part.skipped;
        if (at >= part.length || at + 16 <= 0) {
            continue;
        }
        const Divided row = divide(static_cast<std::uint32_t>(part.rest + max(at, 0)), call.row);
        const int place = places[row.quotient] + static_cast<int>(row.rest) + min(at, 0);
        const auto* pair = reinterpret_cast<const uint4*>(shared + (place & ~15));
        const uint4 value = shifted<1>(pair[0], pair[1], static_cast<unsigned>(place) & 15U);
        if (at >= 0 && at + 16 <= part.length) {
            *reinterpret_cast<uint4*>(part.to + vector) = value;
        } else {
            store_elements<1>(part.to + vector, value, -at, part.length - at);
        }
    }
}

__global__ void __launch_bounds__(RowRunCall::threads, 4) row_run_kernel(RowRunCall call) {
    auto* places = reinterpret_cast<int*>(dynamic_shared());
    std::byte* shared = reinterpret_cast<std::byte*>(places) + call.table;
    const RowRunPart part = row_run_part(call);
    read_rows(call, part, places, shared);
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();
    join_rows(call, part, places, shared);
    __syncthreads();
    write_run(call, part, places, shared);
}

} // namespace runner::transpose_cuda
