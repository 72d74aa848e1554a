// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve_view.hpp"
#include "kernels/cuda_queue.hpp"

#include <cstdint>

namespace runner {

/// Starts a push kernel: both passes with the same radius on both axes, input and output of the
/// compute type T; the taps are reversed: in the order in which they are applied. The kernel fills
/// in how it cuts `view` into tiles.
template <class T>
using PushLaunch = void (*)(CudaQueue& queue, ConvolveView<T> view, std::int64_t frames,
                            const T* row_taps, const T* column_taps);

/// The push kernel for `radius`, null where there is none.
template <class T> PushLaunch<T> push_launch(std::int64_t radius);

/// How the push kernel is laid out for one type and radius.
struct PushTuning {
    int width;  ///< columns of a strip
    int roles;  ///< threads that share a column
    int stages; ///< batches of input rows in shared memory
    int blocks; ///< blocks of threads that a multiprocessor should hold
};

template <class T, int R> constexpr PushTuning push_tuning() {
    if constexpr (sizeof(T) == 4) {
        return R <= 8    ? PushTuning{256, 1, 3, 4}
               : R <= 16 ? PushTuning{256, 1, 3, 3}
               : R <= 32 ? PushTuning{256, 1, 3, 2}
                         : PushTuning{128, 1, 2, 3};
    } else {
        return R <= 16   ? PushTuning{256, 1, 3, 2}
               : R <= 32 ? PushTuning{128, 1, 3, 3}
                         : PushTuning{128, 2, 2, 1};
    }
}

} // namespace runner
