// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/stripes/stripes.hpp"

#include "kernels/elements/converted.cuh"
#include "kernels/queue/launch.cuh"
#include "kernels/stripes/stripes_steps.hpp"

namespace runner {
namespace {

constexpr int tile_side = 32; ///< of the tiles that are transposed, by 8 threads a column
constexpr int tile_lines = 8;

/// A value of a line as an element; every NaN as the quiet one.
template <class T, class W> __device__ T element_of(W value) {
    if constexpr (std::is_same_v<T, W>) {
        return is_nan(value) ? std::numeric_limits<T>::quiet_NaN() : value;
    } else {
        return quiet_on_device<T>(value);
    }
}

/// Makes the lines of the elements.
template <class T, class W>
__global__ void __launch_bounds__(tile_side* tile_lines)
    take_kernel(const T* in, StripeLines<W> view) {
    __shared__ T tile[tile_side][tile_side + 1];
    const std::int64_t first_x = std::int64_t{blockIdx.x} * tile_side;
    const std::int64_t first_r = std::int64_t{blockIdx.y} * tile_side;
    const T* const frame = in + blockIdx.z * view.rows * view.columns;
    const std::int64_t x = first_x + threadIdx.x;
    for (int i = static_cast<int>(threadIdx.y); i < tile_side; i += tile_lines) {
        if (x < view.columns && first_r + i < view.rows) {
            tile[i][threadIdx.x] = frame[(first_r + i) * view.columns + x];
        }
    }
    __syncthreads();
    W* const lines = view.lines + blockIdx.z * view.columns * view.rows;
    const std::int64_t r = first_r + threadIdx.x;
    for (int i = static_cast<int>(threadIdx.y); i < tile_side; i += tile_lines) {
        if (r < view.rows && first_x + i < view.columns) {
            lines[(first_x + i) * view.rows + r] = static_cast<W>(tile[threadIdx.x][i]);
        }
    }
}

/// Makes the output of the lines.
template <class T, class W>
__global__ void __launch_bounds__(tile_side* tile_lines) put_kernel(StripeLines<W> view, T* out) {
    __shared__ W tile[tile_side][tile_side + 1];
    const std::int64_t first_x = std::int64_t{blockIdx.x} * tile_side;
    const std::int64_t first_r = std::int64_t{blockIdx.y} * tile_side;
    const W* const lines = view.lines + blockIdx.z * view.columns * view.rows;
    const std::int64_t r = first_r + threadIdx.x;
    for (int i = static_cast<int>(threadIdx.y); i < tile_side; i += tile_lines) {
        if (r < view.rows && first_x + i < view.columns) {
            tile[i][threadIdx.x] = lines[(first_x + i) * view.rows + r];
        }
    }
    __syncthreads();
    T* const frame = out + blockIdx.z * view.rows * view.columns;
    const std::int64_t x = first_x + threadIdx.x;
    for (int i = static_cast<int>(threadIdx.y); i < tile_side; i += tile_lines) {
        if (x < view.columns && first_r + i < view.rows) {
            frame[(first_r + i) * view.columns + x] = element_of<T>(tile[threadIdx.x][i]);
        }
    }
}

template <class W> LaunchShape tiles_of(const StripeLines<W>& lines) {
    return {dim3(static_cast<unsigned>(ceil_divide(lines.columns, tile_side)),
                 static_cast<unsigned>(ceil_divide(lines.rows, tile_side)),
                 static_cast<unsigned>(lines.frames)),
            dim3(tile_side, tile_lines)};
}

} // namespace

void remove_stripes(CudaQueue& queue, const Stripes& stripes, std::int64_t frames,
                    const std::byte* in, std::byte* out, std::byte* scratch) {
    visit_stripes(stripes, [&](auto element, auto value) {
        using T = decltype(element);
        using W = decltype(value);
        remove_stripes_by<T, W>(
            queue, stripes, frames, in, out, scratch,
            [&](const T* from, const StripeLines<W>& lines) {
                launch(queue, tiles_of(lines), take_kernel<T, W>, from, lines);
            },
            [&](const StripeLines<W>& lines, T* to) {
                launch(queue, tiles_of(lines), put_kernel<T, W>, lines, to);
            },
            [&](std::int64_t count) { queue.count(stripes_operations(stripes, count)); });
    });
}

} // namespace runner
