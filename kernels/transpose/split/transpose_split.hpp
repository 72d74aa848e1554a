// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cuda_queue.hpp"
#include "kernels/transpose/split/transpose_split_plan.hpp"

#include <cstddef>

namespace runner {

/// @param plan of `plan_split`.
void transpose_split(CudaQueue& queue, const SplitPlan& plan, const std::byte* in, std::byte* out);

} // namespace runner
