// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve_view.hpp"
#include "kernels/queue/cuda_queue.hpp"

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

} // namespace runner
