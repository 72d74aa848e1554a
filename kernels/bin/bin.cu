// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "kernels/bin/bin.hpp"
#include "kernels/bin/bin_view.hpp"
#include "kernels/elements/converted.cuh"
#include "kernels/elements/elementwise.cuh"

#include <algorithm>
#include <limits>

namespace runner {
namespace {

constexpr int threads = 256;

/// Stores m results side by side, at once.
template <class Out, int m>
__device__ inline void store_results(const double (&results)[m], std::byte* out, std::int64_t at) {
    ElementVector<Out, m> elements;
#pragma unroll
    for (int i = 0; i < m; ++i) {
        elements.at[i] = converted_on_device<Out>(results[i]);
    }
    *reinterpret_cast<ElementVector<Out, m>*>(reinterpret_cast<Out*>(out) + at) = elements;
}

template <int m>
__device__ inline void store_as(ElementType type, const double (&results)[m], std::byte* out,
                                std::int64_t at) {
    switch (type) {
    case ElementType::int8: return store_results<std::int8_t>(results, out, at);
    case ElementType::uint8: return store_results<std::uint8_t>(results, out, at);
    case ElementType::int16: return store_results<std::int16_t>(results, out, at);
    case ElementType::uint16: return store_results<std::uint16_t>(results, out, at);
    case ElementType::int32: return store_results<std::int32_t>(results, out, at);
    case ElementType::uint32: return store_results<std::uint32_t>(results, out, at);
    case ElementType::int64: return store_results<std::int64_t>(results, out, at);
    case ElementType::uint64: return store_results<std::uint64_t>(results, out, at);
    case ElementType::float32: return store_results<float>(results, out, at);
    default: return store_results<double>(results, out, at);
    }
}

/// Rows of the input that a row of the output is made of.
struct BlockRows {
    std::int64_t first; ///< of all, counted through layers and frames
    int z_count;
    int y_count;

    __device__ BlockRows(const BinView& view, std::int64_t row) {
        const std::int64_t oy = row % view.out_rows;
        const std::int64_t rest = row / view.out_rows;
        const std::int64_t z = rest % view.out_layers * view.factor_z;
        const std::int64_t y = oy * view.factor_y;
        first = (rest / view.out_layers * view.layers + z) * view.rows + y;
        z_count = static_cast<int>(min(view.layers - z, view.factor_z));
        y_count = static_cast<int>(min(view.rows - y, view.factor_y));
    }
};

/// Outputs that a thread makes of aligned vectors, where `factor` divides them or they it.
template <class In, int factor>
inline constexpr int results_at_once = std::max(1, 16 / static_cast<int>(sizeof(In)) / factor);

/// Blocks of 1, 2 or 4 columns in rows that begin at multiples of 16 bytes. A thread makes
/// results_at_once outputs of a row; a block has blockDim.x · these columns and blockDim.y rows.
template <class In, int factor>
__global__ void __launch_bounds__(threads)
    bin_vectors_kernel(BinView view, std::uint32_t strips, const In* in, std::byte* out) {
    constexpr int n = 16 / static_cast<int>(sizeof(In));
    constexpr int m = results_at_once<In, factor>;
    constexpr int loads = m * factor / n;
    const std::uint32_t strip = blockIdx.x % strips;
    const std::int64_t row = std::int64_t{blockIdx.x / strips} * blockDim.y + threadIdx.y;
    const std::int64_t column = (std::int64_t{strip} * blockDim.x + threadIdx.x) * m;
    if (row >= view.frames * view.out_layers * view.out_rows || column >= view.out_columns) {
        return;
    }
    const BlockRows rows(view, row);
    double sums[m] = {};
    for (int z = 0; z < rows.z_count; ++z) {
        const In* from = in + (rows.first + z * view.rows) * view.columns + column * factor;
#pragma unroll 4
        for (int y = 0; y < rows.y_count; ++y, from += view.columns) {
            ElementVector<In, n> x[loads];
#pragma unroll
            for (int v = 0; v < loads; ++v) {
                x[v] = reinterpret_cast<const ElementVector<In, n>*>(from)[v];
            }
#pragma unroll
            for (int i = 0; i < m * factor; ++i) {
                sums[i / factor] = __dadd_rn(sums[i / factor], to_double(x[i / n].at[i % n]));
            }
        }
    }
    if (view.is_mean) {
        const auto count = static_cast<double>(rows.z_count * rows.y_count * std::int64_t{factor});
#pragma unroll
        for (int i = 0; i < m; ++i) {
            sums[i] = __ddiv_rn(sums[i], count);
        }
    }
    store_as(view.out_type, sums, out, row * view.out_columns + column);
}

/// Any blocks: a thread makes one element.
template <class In>
__global__ void __launch_bounds__(threads)
    bin_kernel(BinView view, std::uint32_t strips, const In* in, std::byte* out) {
    const std::uint32_t strip = blockIdx.x % strips;
    const std::int64_t row = std::int64_t{blockIdx.x / strips} * blockDim.y + threadIdx.y;
    const std::int64_t element = std::int64_t{strip} * blockDim.x + threadIdx.x;
    if (row >= view.frames * view.out_layers * view.out_rows ||
        element >= view.out_columns * view.channels) {
        return;
    }
    const BlockRows rows(view, row);
    const std::int64_t x = element / view.channels * view.factor_x;
    const std::int64_t x_count = min(view.columns - x, view.factor_x);
    const std::int64_t pitch = view.columns * view.channels;
    double sum = 0;
    for (int z = 0; z < rows.z_count; ++z) {
        for (int y = 0; y < rows.y_count; ++y) {
            const In* from = in + (rows.first + z * view.rows + y) * pitch + x * view.channels +
                             element % view.channels;
#pragma unroll 4
            for (std::int64_t i = 0; i < x_count; ++i) {
                sum = __dadd_rn(sum, to_double(from[i * view.channels]));
            }
        }
    }
    const double results[1] = {
        view.is_mean ? __ddiv_rn(sum, static_cast<double>(rows.z_count * rows.y_count * x_count))
                     : sum};
    store_as(view.out_type, results, out, row * view.out_columns * view.channels + element);
}

/// Launches blocks over rows of `width` places of one thread each.
template <class Kernel, class In>
void launch_rows(CudaQueue& queue, const BinView& view, std::int64_t width, Kernel kernel,
                 const In* in, std::byte* out) {
    unsigned across = threads;
    while (across / 2 >= width && across > 1) {
        across /= 2;
    }
    const unsigned down = threads / across;
    const auto strips = static_cast<std::uint32_t>((width + across - 1) / across);
    // Rows in parts: a grid has at most 2³¹ − 1 blocks.
    const std::int64_t most = std::numeric_limits<std::int32_t>::max() / strips;
    const std::int64_t lines = (view.all_rows() + down - 1) / down;
    if (lines > most) {
        throw Error(ExitCode::defect,
                    {"a block of rows is too large for one launch", "bin", "", ""});
    }
    launch(queue, {dim3(static_cast<unsigned>(lines * strips)), dim3(across, down)}, kernel, view,
           strips, in, out);
}

template <class In, int factor>
void launch_vectors(CudaQueue& queue, const BinView& view, const In* in, std::byte* out) {
    constexpr int m = results_at_once<In, factor>;
    launch_rows(queue, view, view.out_columns / m, bin_vectors_kernel<In, factor>, in, out);
}

/// Whether rows of the input are made of vectors, and of the output of what a thread makes.
template <class In>
bool has_vectors(const BinView& view, std::int64_t factor, const In* in, const std::byte* out) {
    const auto n = static_cast<std::int64_t>(16 / sizeof(In));
    const std::int64_t results = std::max<std::int64_t>(1, n / factor);
    const std::int64_t stored = results * size_of(view.out_type);
    return view.factor_x == factor && view.channels == 1 &&
           view.columns == view.out_columns * factor && view.columns % n == 0 &&
           view.out_columns % results == 0 && reinterpret_cast<std::uintptr_t>(in) % 16 == 0 &&
           reinterpret_cast<std::uintptr_t>(out) % static_cast<std::uintptr_t>(stored) == 0;
}

} // namespace

void bin(CudaQueue& queue, const Bin& bin, const RowBlock& block, const std::byte* in,
         std::byte* out) {
    const BinView view = bin_view(bin, block);
    if (view.all_rows() == 0 || view.out_columns == 0) {
        return;
    }
    visit_element_type(bin.in_type, [&](auto zero) {
        using In = decltype(zero);
        const auto* from = reinterpret_cast<const In*>(in);
        if (has_vectors(view, 1, from, out)) {
            launch_vectors<In, 1>(queue, view, from, out);
        } else if (has_vectors(view, 2, from, out)) {
            launch_vectors<In, 2>(queue, view, from, out);
        } else if (has_vectors(view, 4, from, out)) {
            launch_vectors<In, 4>(queue, view, from, out);
        } else {
            launch_rows(queue, view, view.out_columns * view.channels, bin_kernel<In>, from, out);
        }
    });
}

} // namespace runner
