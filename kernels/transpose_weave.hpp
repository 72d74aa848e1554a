// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/cuda_queue.hpp"
#include "kernels/transpose_weave_plan.hpp"

#include <cstddef>

namespace runner {

/// Transposes strands to woven rows or back.
void transpose_by_weave(CudaQueue& queue, const WeavePlan& plan, const std::byte* in,
                        std::byte* out);

} // namespace runner
