// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cuda_queue.hpp"
#include "kernels/transpose/transpose_interleave_plan.hpp"

#include <cstddef>

namespace runner {

/// Interleaves components, or takes them apart, as the plan says.
void transpose_interleaved(CudaQueue& queue, const InterleavePlan& plan, const std::byte* in,
                           std::byte* out);

} // namespace runner
