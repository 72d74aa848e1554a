// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cuda_queue.hpp"

#include <cstdint>
#include <vector>

namespace runner {

/// What benchmarks compare `convolve` to: separable convolution as it is usually published. Pixels
/// beyond the border are 0; T is float or double; `rows` × `columns` elements in each buffer, in
/// device memory, none of them the same.

/// A row kernel and a column kernel; taps in constant memory, a tile with its halo in shared
/// memory, eight outputs a thread, the result of the row kernel in `between`.
/// Radius 1, 2, 4, 8, 12, 16, 32 or 64.
/// @throws Error (usage) for any other radius.
template <class T>
void convolve_two_kernel(CudaQueue& queue, std::int64_t rows, std::int64_t columns,
                         const std::vector<double>& taps, const T* in, T* between, T* out);

/// The same two kernels without shared memory: each output reads its 2R + 1 pixels.
template <class T>
void convolve_naive(CudaQueue& queue, std::int64_t rows, std::int64_t columns,
                    const std::vector<double>& taps, const T* in, T* between, T* out);

} // namespace runner
