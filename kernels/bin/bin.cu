// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/bin/bin.hpp"
#include "kernels/bin/bin_device.cuh"
#include "kernels/elements/elementwise.cuh"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace runner {
namespace {

using namespace bin_cuda;

/// How a thread makes blocks of `factor` columns side by side: `results` of them, of `loads`
/// vectors of `n` elements.
template <class In, int factor> struct Piece {
    static constexpr int size = static_cast<int>(sizeof(In));
    /// The bytes of a row: enough to be worth the way there, and few enough for the registers.
    static constexpr int bytes = size == 8 || factor == 1 ? 16 : 32;
    static constexpr int results =
        factor == 3 ? std::min(4, 16 / size) : std::max(1, bytes / size / factor);
    static constexpr int loads = factor == 3 ? 3 : std::max(1, results* factor* size / 16);
    static constexpr int n = results * factor / loads;
};

/// The bits 1 of a word's bytes that are in block `block`, of bytes from number `first` on.
constexpr std::uint32_t bytes_of_block(int first, int block, int factor) {
    std::uint32_t bits = 0;
    for (int i = 0; i < 4; ++i) {
        bits |= (first + i) / factor == block ? 1U << static_cast<unsigned>(8 * i) : 0;
    }
    return bits;
}

/// sum + the bytes of `word`, of type In, that `chosen` has ones in.
template <class In>
__device__ inline std::int32_t add_bytes(std::int32_t sum, std::uint32_t word,
                                         std::uint32_t chosen) {
    if constexpr (std::is_signed_v<In>) {
        return __dp4a(static_cast<std::int32_t>(word), static_cast<std::int32_t>(chosen), sum);
    } else {
        return static_cast<std::int32_t>(__dp4a(word, chosen, static_cast<std::uint32_t>(sum)));
    }
}

/// Adds a row's elements to the sums of a thread's blocks.
template <class In, int factor>
__device__ inline void
add_row(const ElementVector<In, Piece<In, factor>::n> (&x)[Piece<In, factor>::loads],
        SumOf<In> (&sums)[Piece<In, factor>::results]) {
    constexpr int n = Piece<In, factor>::n;
    if constexpr (sizeof(In) == 1 && factor > 1) {
#pragma unroll
        for (int i = 0; i < n * Piece<In, factor>::loads; i += 4) {
            const auto words = std::bit_cast<ElementVector<std::uint32_t, n / 4>>(x[i / n]);
#pragma unroll
            for (int block = i / factor; block <= (i + 3) / factor; ++block) {
                sums[block] = add_bytes<In>(sums[block], words.at[i % n / 4],
                                            bytes_of_block(i, block, factor));
            }
        }
    } else {
#pragma unroll
        for (int i = 0; i < n * Piece<In, factor>::loads; ++i) {
            sums[i / factor] = plus(sums[i / factor], x[i / n].at[i % n]);
        }
    }
}

/// Blocks of `factor` columns in rows that begin at multiples of a thread's vectors. A thread makes
/// Piece::results outputs of a row; a block has blockDim.x · these columns and blockDim.y rows.
/// `stores_all`: rows of the output begin at multiples of what a thread stores.
template <class In, int factor>
__global__ void __launch_bounds__(threads, blocks_at_once)
    bin_vectors_kernel(BinCall call, std::uint32_t strips, Mean mean, bool stores_all, const In* in,
                       std::byte* out) {
    using Part = Piece<In, factor>;
    using Vector = ElementVector<In, Part::n>;
    constexpr int m = Part::results;
    const std::uint32_t line = blockIdx.x / strips;
    const std::int64_t row = std::int64_t{line} * blockDim.y + threadIdx.y;
    const std::int64_t column =
        (std::int64_t{blockIdx.x - line * strips} * blockDim.x + threadIdx.x) * m;
    if (row >= call.frames * call.out_layers * call.out_rows || column >= call.out_columns) {
        return;
    }
    const BlockRows rows(call, row);
    const std::int64_t at = row * call.out_columns + column;
    // Blocks at the end of a row or of a column may have less, or the row no more vectors.
    if ((column + m) * factor > call.columns || rows.z_count < call.factor_z ||
        rows.y_count < call.factor_y) {
        for (int i = 0; i < m && column + i < call.out_columns; ++i) {
            const double results[1] = {any_block(call, rows, column + i, 0, in)};
            store_as(call.out_type, results, 1, true, out, at + i);
        }
        return;
    }
    const std::int64_t held = call.out_columns - column;
    SumOf<In> sums[m] = {};
    for (int z = 0; z < rows.z_count; ++z) {
        const In* from = in + (rows.first + z * call.rows) * call.columns + column * factor;
        int y = 0;
        for (; y + 2 <= rows.y_count; y += 2, from += 2 * call.columns) {
            Vector first[Part::loads];
            Vector second[Part::loads];
#pragma unroll
            for (int v = 0; v < Part::loads; ++v) {
                first[v] = reinterpret_cast<const Vector*>(from)[v];
                second[v] = reinterpret_cast<const Vector*>(from + call.columns)[v];
            }
            add_row<In, factor>(first, sums);
            add_row<In, factor>(second, sums);
        }
        if (y < rows.y_count) {
            Vector x[Part::loads];
#pragma unroll
            for (int v = 0; v < Part::loads; ++v) {
                x[v] = reinterpret_cast<const Vector*>(from)[v];
            }
            add_row<In, factor>(x, sums);
        }
    }
    if constexpr (std::is_same_v<SumOf<In>, std::int32_t>) {
        if (mean.stays_integer) {
            ElementVector<In, m> results;
#pragma unroll
            for (int i = 0; i < m; ++i) {
                results.at[i] = mean.integer_mean<In>(sums[i]);
            }
            store_elements(results, held, stores_all, reinterpret_cast<In*>(out) + at);
            return;
        }
    }
    double results[m];
#pragma unroll
    for (int i = 0; i < m; ++i) {
        results[i] = mean.divides ? mean.quotient(sums[i]) : to_double(sums[i]);
    }
    store_as(call.out_type, results, held, stores_all, out, at);
}

/// Any blocks: a thread makes one element.
template <class In>
__global__ void __launch_bounds__(threads, blocks_at_once)
    bin_kernel(BinCall call, std::uint32_t strips, const In* in, std::byte* out) {
    const std::uint32_t line = blockIdx.x / strips;
    const std::int64_t row = std::int64_t{line} * blockDim.y + threadIdx.y;
    const std::int64_t element =
        std::int64_t{blockIdx.x - line * strips} * blockDim.x + threadIdx.x;
    if (row >= call.frames * call.out_layers * call.out_rows ||
        element >= call.out_columns * call.channels) {
        return;
    }
    const BlockRows rows(call, row);
    const std::int64_t pixel = call.channels == 1 ? element : element / call.channels;
    const double results[1] = {any_block(call, rows, pixel, element - pixel * call.channels, in)};
    store_as(call.out_type, results, 1, true, out,
             row * call.out_columns * call.channels + element);
}

/// Launches bin_vectors_kernel() where blocks have `factor` columns and rows are made of vectors.
template <class In, int factor>
bool launch_vectors(CudaQueue& queue, const BinCall& call, const In* in, std::byte* out) {
    using Part = Piece<In, factor>;
    const std::int64_t count = call.factor_z * call.factor_y * call.factor_x;
    if (call.factor_x != factor || call.channels != 1 || call.columns % Part::n != 0 ||
        reinterpret_cast<std::uintptr_t>(in) % (Part::n * sizeof(In)) != 0 ||
        (sizeof(In) <= 2 && count > Mean::most_elements)) {
        return false;
    }
    const auto stored = static_cast<std::uintptr_t>(Part::results * size_of(call.out_type));
    const bool stores_all = call.out_columns % Part::results == 0 &&
                            reinterpret_cast<std::uintptr_t>(out) % stored == 0;
    launch_rows<In>(queue, call, (call.out_columns + Part::results - 1) / Part::results,
                    bin_vectors_kernel<In, factor>, Mean::of<In>(call), stores_all, in, out);
    return true;
}

} // namespace

void bin(CudaQueue& queue, const Bin& bin, const RowBlock& block, const std::byte* in,
         std::byte* out) {
    const BinCall call = bin_call(bin, block);
    if (call.all_rows() == 0 || call.out_columns == 0) {
        return;
    }
    if (bin.invalid) {
        bin_valid(queue, bin, call, in, out);
        return;
    }
    visit_element_type(bin.in_type, [&](auto zero) {
        using In = decltype(zero);
        const auto* from = reinterpret_cast<const In*>(in);
        if (!launch_vectors<In, 1>(queue, call, from, out) &&
            !launch_vectors<In, 2>(queue, call, from, out) &&
            !launch_vectors<In, 3>(queue, call, from, out) &&
            !launch_vectors<In, 4>(queue, call, from, out)) {
            launch_rows<In>(queue, call, call.out_columns * call.channels, bin_kernel<In>, from,
                            out);
        }
    });
}

} // namespace runner
