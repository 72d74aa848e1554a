// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "kernels/bin/bin_call.hpp"
#include "kernels/elements/converted.cuh"
#include "kernels/elements/elementwise.cuh"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace runner::bin_cuda {

constexpr int threads = 256;
constexpr int blocks_at_once = 4; ///< of a multiprocessor: up to 64 registers a thread

/// Stores the first `count` elements; all of them at once if `aligned`.
template <class T, int m>
__device__ inline void store_elements(const ElementVector<T, m>& elements, std::int64_t count,
                                      bool aligned, T* to) {
    if (aligned) {
        *reinterpret_cast<ElementVector<T, m>*>(to) = elements;
        return;
    }
#pragma unroll
    for (int i = 0; i < m; ++i) {
        if (i < count) {
            to[i] = elements.at[i];
        }
    }
}

/// Stores the first `count` of m results side by side; all of them at once if `aligned`.
template <class Out, int m>
__device__ inline void store_results(const double (&results)[m], std::int64_t count, bool aligned,
                                     std::byte* out, std::int64_t at) {
    ElementVector<Out, m> elements;
#pragma unroll
    for (int i = 0; i < m; ++i) {
        elements.at[i] = converted_on_device<Out>(results[i]);
    }
    store_elements(elements, count, aligned, reinterpret_cast<Out*>(out) + at);
}

/// The same, as elements of `type`.
template <int m>
__device__ inline void store_as(ElementType type, const double (&results)[m], std::int64_t count,
                                bool aligned, std::byte* out, std::int64_t at) {
    visit_on_device(
        type, [&](auto zero) { store_results<decltype(zero)>(results, count, aligned, out, at); });
}

/// Rows of the input that a row of the output is made of.
struct BlockRows {
    std::int64_t first; ///< of all, counted through layers and frames
    int z_count;
    int y_count;

    __device__ BlockRows(const BinCall& call, std::int64_t row) {
        std::int64_t oy = row;
        std::int64_t layer = 0; // of all frames' output
        if (call.frames * call.out_layers > 1) {
            layer = quotient(row, call.out_rows);
            oy = row - layer * call.out_rows;
        }
        const std::int64_t frame = call.out_layers == 1 ? layer : quotient(layer, call.out_layers);
        const std::int64_t z = (layer - frame * call.out_layers) * call.factor_z;
        const std::int64_t y = oy * call.factor_y;
        first = (frame * call.layers + z) * call.rows + y;
        z_count = static_cast<int>(min(call.layers - z, call.factor_z));
        y_count = static_cast<int>(min(call.rows - y, call.factor_y));
    }

  private:
    /// The quotient of numbers that are not negative; those of 32 bits take a fraction of the
    /// instructions.
    static __device__ std::int64_t quotient(std::int64_t a, std::int64_t b) {
        return ((a | b) >> 32) == 0 ? static_cast<std::int64_t>(static_cast<std::uint32_t>(a) /
                                                                static_cast<std::uint32_t>(b))
                                    : a / b;
    }
};

/// Sums of whole blocks of elements of In: integers of up to 2 bytes in 32 bits, which hold any
/// sum of as many as Mean::most_elements and are then what float64 gives.
template <class In>
using SumOf = std::conditional_t<std::is_integral_v<In> && sizeof(In) <= 2, std::int32_t, double>;

template <class In> __device__ inline SumOf<In> plus(SumOf<In> sum, In element) {
    if constexpr (std::is_same_v<SumOf<In>, double>) {
        return __dadd_rn(sum, to_double(element));
    } else {
        return sum + element;
    }
}

/// How sums of whole blocks become means.
struct Mean {
    static constexpr std::int64_t most_elements = 32767;

    bool divides;          ///< false: sums stay
    bool is_power;         ///< the count is a power of two
    bool stays_integer;    ///< elements and results are of one integer type; see integer_mean()
    double count;          ///< of elements of a block
    double reciprocal;     ///< rounded
    std::uint32_t doubled; ///< 2 · count
    std::uint32_t factor;  ///< 2³² / (2 · count), rounded up, or more

    template <class In> static Mean of(const BinCall& call) {
        const std::int64_t count = call.factor_z * call.factor_y * call.factor_x;
        Mean mean{};
        mean.divides = call.is_mean;
        mean.is_power = (count & (count - 1)) == 0;
        mean.count = static_cast<double>(count);
        mean.reciprocal = 1 / mean.count;
        if constexpr (std::is_same_v<SumOf<In>, std::int32_t>) {
            // The quotient of 2 · sum + count by 2 · count is exact where their product has 32
            // bits.
            const auto range = std::int64_t{1} << (8 * sizeof(In));
            mean.stays_integer = call.is_mean && call.out_type == element_type_of<In>() &&
                                 count <= most_elements &&
                                 2 * count * range * 2 * count < 1LL << 32;
            mean.doubled = static_cast<std::uint32_t>(2 * count);
            mean.factor = static_cast<std::uint32_t>((1LL << 32) / (2 * count) + 1);
        }
        return mean;
    }

    /// sum / count, rounded as a division is. Its quotient is at first within 1.5 units in the last
    /// place, then within 1, and then, by Markstein's theorem, right.
    template <class Sum> __device__ double quotient(Sum sum) const {
        const double s = to_double(sum);
        const double q = __dmul_rn(s, reciprocal);
        if (is_power) {
            return q; // the reciprocal is exact
        }
        if constexpr (std::is_same_v<Sum, double>) {
            const double size = fabs(s);
            if (!(size == 0 || (size > 0x1p-900 && size < 0x1p1000))) {
                return __ddiv_rn(s, count);
            }
        }
        const double nearer = __fma_rn(__fma_rn(-count, q, s), reciprocal, q);
        return __fma_rn(__fma_rn(-count, nearer, s), reciprocal, nearer);
    }

    /// sum / count to the nearest integer, half to even: as float64 rounds first and then to an
    /// integer, as a quotient that is no half is farther from one than float64's rounding reaches.
    template <class In> __device__ In integer_mean(std::int32_t sum) const {
        constexpr auto least = static_cast<std::int32_t>(std::numeric_limits<In>::min()); // even
        const auto all = static_cast<std::uint32_t>(2 * sum) -
                         doubled * static_cast<std::uint32_t>(least) + doubled / 2;
        const std::uint32_t q = __umulhi(all, factor);
        const bool above = q * doubled == all && q % 2 == 1;
        return static_cast<In>(static_cast<std::int32_t>(q) - (above ? 1 : 0) + least);
    }
};

/// One element of the output, of any block.
template <class In>
__device__ double any_block(const BinCall& call, const BlockRows& rows, std::int64_t pixel,
                            std::int64_t channel, const In* in) {
    const std::int64_t x = pixel * call.factor_x;
    const auto x_count = static_cast<int>(min(call.columns - x, call.factor_x));
    const std::int64_t pitch = call.columns * call.channels;
    double sum = 0;
    for (int z = 0; z < rows.z_count; ++z) {
        const In* from = in + (rows.first + z * call.rows) * pitch + x * call.channels + channel;
        for (int y = 0; y < rows.y_count; ++y, from += pitch) {
#pragma unroll 4
            for (int i = 0; i < x_count; ++i) {
                sum = __dadd_rn(sum, to_double(from[i * call.channels]));
            }
        }
    }
    const auto count = static_cast<double>(std::int64_t{rows.z_count} * rows.y_count * x_count);
    return call.is_mean ? __ddiv_rn(sum, count) : sum;
}

/// The work of elements of `in_bytes`.
inline KernelWork bin_work(const BinCall& call, std::int64_t in_bytes) {
    const std::int64_t in = call.frames * call.layers * call.rows * call.columns;
    const std::int64_t out = call.all_rows() * call.out_columns;
    return {static_cast<double>(call.channels * (in * in_bytes + out * size_of(call.out_type)))};
}

/// Launches blocks over rows of `width` places of one thread each.
template <class In, class Kernel, class... Arguments>
void launch_rows(CudaQueue& queue, const BinCall& call, std::int64_t width, Kernel kernel,
                 const Arguments&... arguments) {
    unsigned across = threads;
    while (across / 2 >= width && across > 1) {
        across /= 2;
    }
    const unsigned down = threads / across;
    const auto strips = static_cast<std::uint32_t>((width + across - 1) / across);
    // Rows in parts: a grid has at most 2³¹ − 1 blocks.
    const std::int64_t most = std::numeric_limits<std::int32_t>::max() / strips;
    const std::int64_t lines = (call.all_rows() + down - 1) / down;
    if (lines > most) {
        throw Error(ExitCode::defect,
                    {"a block of rows is too large for one launch", "bin", "", ""});
    }
    launch(queue,
           {dim3(static_cast<unsigned>(lines * strips)), dim3(across, down), 0,
            bin_work(call, sizeof(In))},
           kernel, call, strips, arguments...);
}

} // namespace runner::bin_cuda
