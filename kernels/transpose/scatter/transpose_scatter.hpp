// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cuda_queue.hpp"
#include "kernels/transpose/scatter/transpose_scatter_plan.hpp"

#include <cstddef>

namespace runner {

/// Transposes as planned for `in`.
void transpose_scattered(CudaQueue& queue, const ScatterPlan& plan, const std::byte* in,
                         std::byte* out);

} // namespace runner
