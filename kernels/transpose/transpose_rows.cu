// SPDX-License-Identifier: BSD-3-Clause
// The row kernel: rows that stay whole go to other places.
#include "kernels/transpose/transpose_rows.hpp"

#include "kernels/queue/launch.cuh"
#include "kernels/transpose/transpose_shift.cuh"

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

void transpose_by_rows(CudaQueue& queue, const TransposeAxes& axes, const std::byte* in,
                       std::byte* out) {
    const int along = axes.in_fastest();
    const TransposeAxis row = axes.axis[static_cast<std::size_t>(along)];
    std::array<TransposeAxis, 2> others{}; // the faster one last
    std::size_t at = 2;
    for (int i = axes.count - 1; i >= 0; --i) {
        if (i != along) {
            others[--at] = axes.axis[static_cast<std::size_t>(i)];
        }
    }
    const std::int64_t e = axes.element_bytes;
    const std::int64_t words = words_of_row(axes, row.extent);
    RowCall call{};
    call.in = in;
    call.out = out;
    call.readable = {in, in + (row.extent + (others[0].extent - 1) * others[0].in +
                               (others[1].extent - 1) * others[1].in) *
                                  e};
    call.all_words = words * others[0].extent * others[1].extent;
    call.row_bytes = row.extent * e;
    call.in_slow = others[0].in * e;
    call.in_fast = others[1].in * e;
    call.out_slow = others[0].out * e;
    call.out_fast = others[1].out * e;
    call.words_inverse = 1.0 / static_cast<double>(words);
    call.words = make_divisor(static_cast<std::uint32_t>(words));
    call.fast = make_divisor(static_cast<std::uint32_t>(others[1].extent));
    constexpr std::int64_t share = threads * at_once;
    const auto blocks = static_cast<unsigned>((call.all_words + share - 1) / share);
    const KernelWork work{2.0 * static_cast<double>(axes.elements() * e)};
    launch(queue, {dim3(blocks), dim3(threads), 0, work}, kernel_for(axes.element_bytes), call);
}

} // namespace runner
