// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cuda_queue.hpp"
#include "kernels/transpose/gather/transpose_gather_plan.hpp"

#include <cstddef>

namespace runner {

/// @param plan of `plan_gather`.
void transpose_gathered(CudaQueue& queue, const GatherPlan& plan, const std::byte* in,
                        std::byte* out);

} // namespace runner
