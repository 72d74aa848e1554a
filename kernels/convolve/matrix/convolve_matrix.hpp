// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/push/convolve_push.hpp"
#include "kernels/queue/cuda_queue.hpp"

#include <cstdint>

namespace runner {

/// The kernel that makes float64 sums on tensor cores, to the bytes of the push kernels, for input
/// and output whose rows start at multiples of 16 bytes. Null where it is not faster than those, or
/// where the queue's device is not of compute capability 9.0.
PushLaunch<double> matrix_push_launch(CudaQueue& queue, std::int64_t row_radius,
                                      std::int64_t column_radius);

} // namespace runner
