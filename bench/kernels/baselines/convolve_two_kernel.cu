// SPDX-License-Identifier: BSD-3-Clause
#include "bench/kernels/baselines/convolve_two_kernel.hpp"

#include "base/error.hpp"
#include "kernels/convolve/convolve_device.cuh"
#include "kernels/queue/launch.cuh"

#include <algorithm>
#include <string>

namespace runner {
namespace {

using namespace convolve_cuda;

constexpr int most_taps = 257;
__constant__ float float_taps[most_taps];
__constant__ double double_taps[most_taps];

template <class T> __device__ T tap(int j) {
    if constexpr (sizeof(T) == sizeof(float)) {
        return float_taps[j];
    } else {
        return double_taps[j];
    }
}

template <class T> void set_taps(CudaQueue& queue, const std::vector<double>& taps) {
    queue.make_current();
    const std::vector<T> reversed(taps.rbegin(), taps.rend());
    const auto bytes = reversed.size() * sizeof(T);
    if constexpr (sizeof(T) == sizeof(float)) {
        cuda_call([&] {
            return cudaMemcpyToSymbolAsync(float_taps, reversed.data(), bytes, 0,
                                           cudaMemcpyHostToDevice, queue.stream());
        });
    } else {
        cuda_call([&] {
            return cudaMemcpyToSymbolAsync(double_taps, reversed.data(), bytes, 0,
                                           cudaMemcpyHostToDevice, queue.stream());
        });
    }
}

constexpr int steps = 8; // outputs of a thread

template <class T, int R, int wide, int high>
__global__ void row_kernel(const T* in, T* out, std::int64_t rows, std::int64_t columns) {
    constexpr int halo = (R + wide - 1) / wide;
    __shared__ T tile[high][(steps + 2 * halo) * wide];
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * high + threadIdx.y;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * steps * wide + threadIdx.x;
    const int x = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int s = -halo; s < steps + halo; ++s) {
        const std::int64_t column = first + s * wide;
        tile[threadIdx.y][x + (s + halo) * wide] =
            row < rows && column >= 0 && column < columns ? in[row * columns + column] : T(0);
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < steps; ++s) {
        const T* from = &tile[threadIdx.y][x + (s + halo) * wide - R];
        T sum = multiply(tap<T>(0), from[0]);
#pragma unroll
        for (int j = 1; j <= 2 * R; ++j) {
            sum = multiply_add(tap<T>(j), from[j], sum);
        }
        if (row < rows && first + s * wide < columns) {
            out[row * columns + first + s * wide] = sum;
        }
    }
}

template <class T, int R, int wide, int high>
__global__ void column_kernel(const T* in, T* out, std::int64_t rows, std::int64_t columns) {
    constexpr int halo = (R + high - 1) / high;
    __shared__ T tile[(steps + 2 * halo) * high][wide];
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * wide + threadIdx.x;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * steps * high + threadIdx.y;
    const int y = static_cast<int>(threadIdx.y);
#pragma unroll
    for (int s = -halo; s < steps + halo; ++s) {
        const std::int64_t row = first + s * high;
        tile[y + (s + halo) * high][threadIdx.x] =
            column < columns && row >= 0 && row < rows ? in[row * columns + column] : T(0);
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < steps; ++s) {
        const int from = y + (s + halo) * high - R;
        T sum = multiply(tap<T>(0), tile[from][threadIdx.x]);
#pragma unroll
        for (int j = 1; j <= 2 * R; ++j) {
            sum = multiply_add(tap<T>(j), tile[from + j][threadIdx.x], sum);
        }
        if (column < columns && first + s * high < rows) {
            out[(first + s * high) * columns + column] = sum;
        }
    }
}

unsigned pieces(std::int64_t count, int size) {
    return static_cast<unsigned>((count + size - 1) / size);
}

template <class T, int R>
void run_two_kernels(CudaQueue& queue, std::int64_t rows, std::int64_t columns, const T* in,
                     T* between, T* out) {
    launch(queue, {dim3(pieces(columns, steps * 16), pieces(rows, 4)), dim3(16, 4)},
           row_kernel<T, R, 16, 4>, in, between, rows, columns);
    launch(queue, {dim3(pieces(columns, 16), pieces(rows, steps * 8)), dim3(16, 8)},
           column_kernel<T, R, 16, 8>, static_cast<const T*>(between), out, rows, columns);
}

template <class T>
__global__ void naive_kernel(const T* in, T* out, std::int64_t rows, std::int64_t columns,
                             int radius, std::int64_t stride) {
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns) {
        return;
    }
    const std::int64_t place = stride == 1 ? column : row;
    const std::int64_t extent = stride == 1 ? columns : rows;
    const T* from = in + row * columns + column;
    T sum = T(0);
    for (int j = 0; j <= 2 * radius; ++j) {
        const int k = j - radius;
        const T x = place + k >= 0 && place + k < extent ? from[k * stride] : T(0);
        sum = j == 0 ? multiply(tap<T>(0), x) : multiply_add(tap<T>(j), x, sum);
    }
    out[row * columns + column] = sum;
}

} // namespace

template <class T>
void convolve_two_kernel(CudaQueue& queue, std::int64_t rows, std::int64_t columns,
                         const std::vector<double>& taps, const T* in, T* between, T* out) {
    set_taps<T>(queue, taps);
    switch (taps.size() / 2) {
    case 1: return run_two_kernels<T, 1>(queue, rows, columns, in, between, out);
    case 2: return run_two_kernels<T, 2>(queue, rows, columns, in, between, out);
    case 4: return run_two_kernels<T, 4>(queue, rows, columns, in, between, out);
    case 8: return run_two_kernels<T, 8>(queue, rows, columns, in, between, out);
    case 12: return run_two_kernels<T, 12>(queue, rows, columns, in, between, out);
    case 16: return run_two_kernels<T, 16>(queue, rows, columns, in, between, out);
    case 32: return run_two_kernels<T, 32>(queue, rows, columns, in, between, out);
    case 64: return run_two_kernels<T, 64>(queue, rows, columns, in, between, out);
    default:
        throw Error(ExitCode::usage, {"no such baseline", "radius", std::to_string(taps.size() / 2),
                                      "Use 1, 2, 4, 8, 12, 16, 32 or 64"});
    }
}

template <class T>
void convolve_naive(CudaQueue& queue, std::int64_t rows, std::int64_t columns,
                    const std::vector<double>& taps, const T* in, T* between, T* out) {
    set_taps<T>(queue, taps);
    const LaunchShape shape{dim3(pieces(columns, 32), pieces(rows, 8)), dim3(32, 8)};
    const int radius = static_cast<int>(taps.size() / 2);
    launch(queue, shape, naive_kernel<T>, in, between, rows, columns, radius, std::int64_t{1});
    launch(queue, shape, naive_kernel<T>, static_cast<const T*>(between), out, rows, columns,
           radius, columns);
}

template void convolve_two_kernel(CudaQueue&, std::int64_t, std::int64_t,
                                  const std::vector<double>&, const float*, float*, float*);
template void convolve_two_kernel(CudaQueue&, std::int64_t, std::int64_t,
                                  const std::vector<double>&, const double*, double*, double*);
template void convolve_naive(CudaQueue&, std::int64_t, std::int64_t, const std::vector<double>&,
                             const float*, float*, float*);
template void convolve_naive(CudaQueue&, std::int64_t, std::int64_t, const std::vector<double>&,
                             const double*, double*, double*);

} // namespace runner
