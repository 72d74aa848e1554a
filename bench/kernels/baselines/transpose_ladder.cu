// SPDX-License-Identifier: BSD-3-Clause
#include "bench/kernels/baselines/transpose_ladder.hpp"

#include "kernels/queue/launch.cuh"

#include <stdexcept>

namespace runner {
namespace {

constexpr int side = 8; ///< of a block of threads, and of a tile

/// Extents and strides of a dense array; axis 2 is the fastest.
struct Layout {
    std::int64_t extent[3];
    std::int64_t stride[3];
};

struct Permutation {
    int axis[3];
};

Layout dense(std::int64_t a, std::int64_t b, std::int64_t c) { return {{a, b, c}, {b * c, c, 1}}; }

/// The element of this thread; axis 2 along the block's x.
__device__ void place_of_thread(std::int64_t (&place)[3]) {
    place[0] = static_cast<std::int64_t>(blockIdx.z) * side + threadIdx.z;
    place[1] = static_cast<std::int64_t>(blockIdx.y) * side + threadIdx.y;
    place[2] = static_cast<std::int64_t>(blockIdx.x) * side + threadIdx.x;
}

__device__ bool inside(const Layout& layout, const std::int64_t (&place)[3]) {
    return place[0] < layout.extent[0] && place[1] < layout.extent[1] &&
           place[2] < layout.extent[2];
}

__device__ std::int64_t offset(const Layout& layout, const std::int64_t (&place)[3]) {
    return place[0] * layout.stride[0] + place[1] * layout.stride[1] + place[2] * layout.stride[2];
}

template <class T> __global__ void copy_kernel(Layout from, const T* in, T* out) {
    std::int64_t place[3];
    place_of_thread(place);
    if (inside(from, place)) {
        out[offset(from, place)] = in[offset(from, place)];
    }
}

template <class T> __global__ void copy_through_shared_kernel(Layout from, const T* in, T* out) {
    __shared__ T tile[side][side][side];
    std::int64_t place[3];
    place_of_thread(place);
    if (inside(from, place)) {
        tile[threadIdx.z][threadIdx.y][threadIdx.x] = in[offset(from, place)];
    }
    __syncthreads();
    if (inside(from, place)) {
        out[offset(from, place)] = tile[threadIdx.z][threadIdx.y][threadIdx.x];
    }
}

template <class T>
__device__ void move_simply(const Layout& from, const Layout& to, const int (&axis)[3], const T* in,
                            T* out) {
    std::int64_t place[3];
    place_of_thread(place);
    if (inside(from, place)) {
        out[place[axis[0]] * to.stride[0] + place[axis[1]] * to.stride[1] +
            place[axis[2]] * to.stride[2]] = in[offset(from, place)];
    }
}

template <class T>
__global__ void simple_kernel(Layout from, Layout to, Permutation permutation, const T* in,
                              T* out) {
    move_simply(from, to, permutation.axis, in, out);
}

template <class T, int a, int b, int c>
__global__ void simple_template_kernel(Layout from, Layout to, const T* in, T* out) {
    constexpr int axis[3] = {a, b, c};
    move_simply(from, to, axis, in, out);
}

/// A tile comes in in the input's order; thread (z, y, x) then writes the element at (z, y, x) of
/// the tile as the output has it, so that neighbours write to neighbours.
template <class T, int pad>
__device__ void move_by_tile(const Layout& from, const Layout& to, const int (&axis)[3],
                             const T* in, T* out) {
    __shared__ T tile[side][side][side + pad];
    std::int64_t place[3];
    place_of_thread(place);
    if (inside(from, place)) {
        tile[threadIdx.z][threadIdx.y][threadIdx.x] = in[offset(from, place)];
    }
    __syncthreads();
    const std::int64_t first[3] = {static_cast<std::int64_t>(blockIdx.z) * side,
                                   static_cast<std::int64_t>(blockIdx.y) * side,
                                   static_cast<std::int64_t>(blockIdx.x) * side};
    const int thread[3] = {static_cast<int>(threadIdx.z), static_cast<int>(threadIdx.y),
                           static_cast<int>(threadIdx.x)};
    int within[3];
    std::int64_t target[3];
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        within[axis[i]] = thread[i];
        target[i] = first[axis[i]] + thread[i];
    }
    if (inside(to, target)) {
        out[offset(to, target)] = tile[within[0]][within[1]][within[2]];
    }
}

template <class T>
__global__ void tile_kernel(Layout from, Layout to, Permutation permutation, const T* in, T* out) {
    move_by_tile<T, 0>(from, to, permutation.axis, in, out);
}

template <class T, int pad, int a, int b, int c>
__global__ void tile_template_kernel(Layout from, Layout to, const T* in, T* out) {
    constexpr int axis[3] = {a, b, c};
    move_by_tile<T, pad>(from, to, axis, in, out);
}

/// Calls `action` with the permutation as template arguments.
template <class Action> void with_permutation(const std::array<int, 3>& p, const Action& action) {
    switch (p[0] * 9 + p[1] * 3 + p[2]) {
    case 5: return action.template operator()<0, 1, 2>();
    case 7: return action.template operator()<0, 2, 1>();
    case 11: return action.template operator()<1, 0, 2>();
    case 15: return action.template operator()<1, 2, 0>();
    case 19: return action.template operator()<2, 0, 1>();
    case 21: return action.template operator()<2, 1, 0>();
    default: throw std::invalid_argument("not a permutation of three axes");
    }
}

template <class T>
void run_baseline(CudaQueue& queue, TransposeBaseline baseline,
                  const std::array<std::int64_t, 3>& shape, const std::array<int, 3>& p,
                  const T* in, T* out) {
    const auto extent = [&](int axis) { return shape[static_cast<std::size_t>(axis)]; };
    const Layout from = dense(shape[0], shape[1], shape[2]);
    const Layout to = dense(extent(p[0]), extent(p[1]), extent(p[2]));
    const auto blocks = [&](int axis) {
        return static_cast<unsigned>((extent(axis) + side - 1) / side);
    };
    const LaunchShape launch_shape{dim3(blocks(2), blocks(1), blocks(0)), dim3(side, side, side)};
    const Permutation permutation{{p[0], p[1], p[2]}};
    switch (baseline) {
    case TransposeBaseline::copy: return launch(queue, launch_shape, copy_kernel<T>, from, in, out);
    case TransposeBaseline::copy_through_shared:
        return launch(queue, launch_shape, copy_through_shared_kernel<T>, from, in, out);
    case TransposeBaseline::simple:
        return launch(queue, launch_shape, simple_kernel<T>, from, to, permutation, in, out);
    case TransposeBaseline::tile:
        return launch(queue, launch_shape, tile_kernel<T>, from, to, permutation, in, out);
    case TransposeBaseline::simple_template:
        return with_permutation(p, [&]<int a, int b, int c>() {
            launch(queue, launch_shape, simple_template_kernel<T, a, b, c>, from, to, in, out);
        });
    case TransposeBaseline::tile_template:
        return with_permutation(p, [&]<int a, int b, int c>() {
            launch(queue, launch_shape, tile_template_kernel<T, 0, a, b, c>, from, to, in, out);
        });
    case TransposeBaseline::tile_padded:
        return with_permutation(p, [&]<int a, int b, int c>() {
            launch(queue, launch_shape, tile_template_kernel<T, 1, a, b, c>, from, to, in, out);
        });
    }
}

/// Threads: a tile's columns × 8; a thread takes every eighth row.
template <class T, int tile_side>
__global__ void matrix_kernel(std::int64_t rows, std::int64_t columns, const T* in, T* out) {
    __shared__ T tile[tile_side][tile_side + 1];
    const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * tile_side;
    const std::int64_t y = static_cast<std::int64_t>(blockIdx.y) * tile_side;
    for (int i = static_cast<int>(threadIdx.y); i < tile_side; i += 8) {
        if (y + i < rows && x + threadIdx.x < columns) {
            tile[i][threadIdx.x] = in[(y + i) * columns + x + threadIdx.x];
        }
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.y); i < tile_side; i += 8) {
        if (x + i < columns && y + threadIdx.x < rows) {
            out[(x + i) * rows + y + threadIdx.x] = tile[threadIdx.x][i];
        }
    }
}

template <class T>
void run_matrix(CudaQueue& queue, int tile, std::int64_t rows, std::int64_t columns, const T* in,
                T* out) {
    const auto blocks = [&](std::int64_t extent) {
        return static_cast<unsigned>((extent + tile - 1) / tile);
    };
    const LaunchShape shape{dim3(blocks(columns), blocks(rows)),
                            dim3(static_cast<unsigned>(tile), 8)};
    if (tile == 8) {
        launch(queue, shape, matrix_kernel<T, 8>, rows, columns, in, out);
    } else {
        launch(queue, shape, matrix_kernel<T, 32>, rows, columns, in, out);
    }
}

} // namespace

void transpose_baseline(CudaQueue& queue, TransposeBaseline baseline,
                        const std::array<std::int64_t, 3>& shape,
                        const std::array<int, 3>& permutation, int element_bytes,
                        const std::byte* in, std::byte* out) {
    if (element_bytes == 4) {
        run_baseline(queue, baseline, shape, permutation,
                     reinterpret_cast<const std::uint32_t*>(in),
                     reinterpret_cast<std::uint32_t*>(out));
    } else {
        run_baseline(queue, baseline, shape, permutation,
                     reinterpret_cast<const std::uint64_t*>(in),
                     reinterpret_cast<std::uint64_t*>(out));
    }
}

void transpose_matrix_baseline(CudaQueue& queue, int tile, std::int64_t rows, std::int64_t columns,
                               int element_bytes, const std::byte* in, std::byte* out) {
    if (element_bytes == 4) {
        run_matrix(queue, tile, rows, columns, reinterpret_cast<const std::uint32_t*>(in),
                   reinterpret_cast<std::uint32_t*>(out));
    } else {
        run_matrix(queue, tile, rows, columns, reinterpret_cast<const std::uint64_t*>(in),
                   reinterpret_cast<std::uint64_t*>(out));
    }
}

} // namespace runner
