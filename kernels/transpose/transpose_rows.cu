// SPDX-License-Identifier: BSD-3-Clause
// The row kernels: rows that stay whole go to other places.
#include "kernels/transpose/transpose_ways.hpp"

#include "base/rounding.hpp"
#include "kernels/queue/launch.cuh"
#include "kernels/transpose/transpose_row_run.cuh"

#include <algorithm>
#include <limits>

namespace runner {
namespace {

using namespace transpose_cuda;

constexpr int threads = 256;
constexpr int at_once = 4; ///< words a thread moves

/// Rows in the output's order; a row is counted as `words` words or
/// vectors. Pitches are bytes.
struct RowCall {
    const std::byte* in;
    std::byte* out;
    Readable readable;
    std::int64_t all_words;
    std::int64_t row_bytes;
    std::int64_t in_fast;
    std::int64_t in_slow;
    std::int64_t out_fast;
    std::int64_t out_slow;
    double words_inverse;
    Divisor words;
    Divisor fast; ///< rows along the faster axis
};

struct RowPlace {
    const std::byte* in;
    std::byte* out;
    std::int64_t word;
};

__device__ RowPlace row_place(const RowCall& call, std::uint32_t first_row,
                              std::uint32_t position) {
    const Divided at = divide(position, call.words);
    const Divided row = divide(first_row + at.quotient, call.fast);
    return {call.in + row.quotient * call.in_slow + row.rest * call.in_fast,
            call.out + row.quotient * call.out_slow + row.rest * call.out_fast, at.rest};
}

/// The first word of this block of threads, by its row and its place there.
struct BlockStart {
    std::uint32_t row;
    std::uint32_t word;
};

__device__ BlockStart block_start(const RowCall& call) {
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * (threads * at_once);
    auto row = static_cast<std::int64_t>(static_cast<double>(first) * call.words_inverse);
    std::int64_t word = first - row * call.words.value;
    // The product of floating-point numbers may be off by one.
    if (word < 0) {
        --row;
        word += call.words.value;
    } else if (word >= call.words.value) {
        ++row;
        word -= call.words.value;
    }
    return {static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(word)};
}

template <class T> __global__ void __launch_bounds__(threads) row_kernel(RowCall call) {
    const BlockStart start = block_start(call);
    const std::int64_t left =
        call.all_words - static_cast<std::int64_t>(blockIdx.x) * (threads * at_once);
    T values[at_once];
    T* places[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
        const int at = static_cast<int>(threadIdx.x) + i * threads;
        if (at < left) {
            const RowPlace place =
                row_place(call, start.row, start.word + static_cast<std::uint32_t>(at));
            values[i] = __ldcs(reinterpret_cast<const T*>(place.in) + place.word);
            places[i] = reinterpret_cast<T*>(place.out) + place.word;
        }
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
        if (static_cast<int>(threadIdx.x) + i * threads < left) {
            __stcs(places[i], values[i]);
        }
    }
}

/// What a thread has in flight for 16 aligned bytes of the output.
struct RowVector {
    const std::byte* from;
    std::byte* to;
    std::int64_t start; ///< in the row, from −15 on; the row's length where there is nothing to do
    uint4 low;          ///< the aligned input around it
    uint4 high;
    bool inside; ///< whether these may be read
};

/// Rows that begin anywhere: vectors are aligned in the output and put together from two of the
/// input; the row's first and last are written by elements.
template <int element> __global__ void __launch_bounds__(threads) row_vectors_kernel(RowCall call) {
    const BlockStart start = block_start(call);
    const std::int64_t left =
        call.all_words - static_cast<std::int64_t>(blockIdx.x) * (threads * at_once);
    RowVector vectors[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
        RowVector& v = vectors[i];
        const int at = static_cast<int>(threadIdx.x) + i * threads;
        v.start = call.row_bytes;
        if (at < left) {
            const RowPlace place =
                row_place(call, start.row, start.word + static_cast<std::uint32_t>(at));
            v.start = 16 * place.word - static_cast<std::int64_t>(beyond(place.out, 16));
            v.from = place.in + v.start;
            v.to = place.out + v.start;
        }
        if (v.start < call.row_bytes) {
            const std::byte* aligned = v.from - beyond(v.from, 16);
            v.inside = aligned >= call.readable.begin && aligned + 32 <= call.readable.end;
            if (v.inside) {
                v.low = load<Use::again, uint4>(aligned);
                v.high = load<Use::again, uint4>(aligned + 16);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
        const RowVector& v = vectors[i];
        if (v.start >= call.row_bytes) {
            continue;
        }
        const int first = static_cast<int>(max(-v.start, std::int64_t{0}));
        const int end = static_cast<int>(min(call.row_bytes - v.start, std::int64_t{16}));
        if (!v.inside) {
            for (int k = first; k < end; ++k) {
                v.to[k] = v.from[k];
            }
            continue;
        }
        const uint4 value = shifted<element>(v.low, v.high, beyond(v.from, 16));
        if (first == 0 && end == 16) {
            *reinterpret_cast<uint4*>(v.to) = value;
        } else {
            store_elements<element>(v.to, value, first, end);
        }
    }
}

using RowKernel = void (*)(RowCall);

RowKernel kernel_for(int element_bytes) {
    switch (element_bytes) {
    case 1: return row_vectors_kernel<1>;
    case 2: return row_vectors_kernel<2>;
    case 4: return row_vectors_kernel<4>;
    case 8: return row_kernel<uint2>;
    default: return row_kernel<uint4>;
    }
}

std::int64_t words_of_row(const TransposeAxes& axes, std::int64_t elements) {
    // A row that begins within a vector reaches into one more.
    return axes.element_bytes >= 8 ? elements : (elements * axes.element_bytes + 14) / 16 + 1;
}

/// The rows and the axes along which they lie, whose strides are in bytes.
struct MovedRows {
    std::int64_t extent; ///< elements of one
    std::int64_t bytes;
    TransposeAxis fast; ///< in the output
    TransposeAxis slow;

    /// Where the last one begins.
    std::int64_t last_in() const {
        return (slow.extent - 1) * slow.in + (fast.extent - 1) * fast.in;
    }
    std::int64_t all_bytes() const { return bytes * fast.extent * slow.extent; }
    KernelWork work() const { return {2.0 * static_cast<double>(all_bytes())}; }
};

MovedRows moved_rows(const TransposeAxes& axes) {
    const int along = axes.in_fastest();
    const std::int64_t e = axes.element_bytes;
    std::array<TransposeAxis, 2> others{}; // the faster one last
    std::size_t at = 2;
    for (int i = axes.count - 1; i >= 0; --i) {
        if (i != along) {
            const TransposeAxis& axis = axes.axis[static_cast<std::size_t>(i)];
            others[--at] = {axis.extent, axis.in * e, axis.out * e};
        }
    }
    const std::int64_t extent = axes.axis[static_cast<std::size_t>(along)].extent;
    return {extent, extent * e, others[1], others[0]};
}

void launch_run(CudaQueue& queue, const MovedRows& rows, const std::byte* in, std::byte* out) {
    constexpr int vector = 16;
    constexpr int warp = 32;
    const auto bytes = static_cast<int>(rows.bytes);
    const int count = (RowRunCall::part - 2) / bytes + 2; // rows that a part may touch
    const auto vectors = static_cast<int>(ceil_divide(bytes + RowRunCall::align - 1, vector));
    const int rows_at_once = std::clamp(count, 1, RowRunCall::threads / std::min(vectors, warp));
    const int lanes = std::min(vectors, RowRunCall::threads / rows_at_once);
    RowRunCall call{};
    call.in = in;
    call.out = out;
    call.readable = {in, in + rows.last_in() + rows.bytes};
    call.bytes = rows.all_bytes();
    call.in_slow = rows.slow.in;
    call.in_fast = rows.fast.in;
    call.row_inverse = 1.0 / static_cast<double>(bytes);
    call.row = make_divisor(static_cast<std::uint32_t>(bytes));
    call.fast = make_divisor(static_cast<std::uint32_t>(rows.fast.extent));
    call.lanes = make_divisor(static_cast<std::uint32_t>(lanes));
    call.rows_at_once = RowRunCall::threads / lanes;
    // Room for what is before a row, for the next one's begin, and for what a thread reads beyond;
    // an odd number of vectors, so that rows begin in different banks.
    const auto room = static_cast<int>(ceil_divide(bytes + RowRunCall::align + 2 * vector, vector));
    call.pitch = vector * (room + 1 - room % 2);
    // The first vector of the run may begin up to 31 bytes before the rows.
    call.table = static_cast<int>(round_up(count * sizeof(int) + RowRunCall::align, vector));
    const auto before =
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out) % RowRunCall::align);
    launch(queue,
           {dim3(static_cast<unsigned>(ceil_divide(call.bytes + before, RowRunCall::part))),
            dim3(RowRunCall::threads),
            static_cast<std::size_t>(call.table + count * call.pitch + vector), rows.work()},
           row_run_kernel, call);
}

} // namespace

bool moves_rows(const TransposeAxes& axes) {
    if (axes.count == 0) {
        return false;
    }
    const TransposeAxis& row = axes.axis[static_cast<std::size_t>(axes.in_fastest())];
    constexpr std::int64_t most = std::int64_t{1} << 30;
    return row.in == 1 && row.out == 1 && words_of_row(axes, row.extent) < most &&
           axes.elements() / row.extent < most;
}

bool rows_are_run(const TransposeAxes& axes) {
    if (!moves_rows(axes) || axes.element_bytes > 4) {
        return false;
    }
    constexpr std::int64_t least = 64; // bytes
    constexpr std::int64_t most = 8192;
    const std::int64_t row =
        axes.axis[static_cast<std::size_t>(axes.in_fastest())].extent * axes.element_bytes;
    std::int64_t dense = 1;
    for (int i = axes.count - 1; i >= 0; --i) {
        const TransposeAxis& axis = axes.axis[static_cast<std::size_t>(i)];
        if (axis.out != dense) {
            return false;
        }
        dense *= axis.extent;
    }
    return row >= least && row <= most;
}

void transpose_by_rows(CudaQueue& queue, const TransposeAxes& axes, const std::byte* in,
                       std::byte* out) {
    const MovedRows rows = moved_rows(axes);
    if (rows_are_run(axes)) {
        launch_run(queue, rows, in, out);
        return;
    }
    const std::int64_t words = words_of_row(axes, rows.extent);
    RowCall call{};
    call.in = in;
    call.out = out;
    call.readable = {in, in + rows.last_in() + rows.bytes};
    call.all_words = words * rows.slow.extent * rows.fast.extent;
    call.row_bytes = rows.bytes;
    call.in_slow = rows.slow.in;
    call.in_fast = rows.fast.in;
    call.out_slow = rows.slow.out;
    call.out_fast = rows.fast.out;
    call.words_inverse = 1.0 / static_cast<double>(words);
    call.words = make_divisor(static_cast<std::uint32_t>(words));
    call.fast = make_divisor(static_cast<std::uint32_t>(rows.fast.extent));
    constexpr std::int64_t share = threads * at_once;
    const auto blocks = static_cast<unsigned>(ceil_divide(call.all_words, share));
    launch(queue, {dim3(blocks), dim3(threads), 0, rows.work()}, kernel_for(axes.element_bytes),
           call);
}

} // namespace runner
