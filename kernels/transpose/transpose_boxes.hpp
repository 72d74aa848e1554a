// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cuda_queue.hpp"
#include "kernels/transpose/transpose_box_plan.hpp"

#include <cstddef>

namespace runner {

/// Transposes by boxes, `group` of them along one axis before the next along the other.
void transpose_by_boxes(CudaQueue& queue, const BoxPlan& plan, int group, const std::byte* in,
                        std::byte* out);

} // namespace runner
