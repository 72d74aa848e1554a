// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cuda_queue.hpp"

namespace runner {

/// Ways in which a kernel ends CUDA for its process.
enum class Fault { trap, address, alignment };

/// Puts a kernel that does so on the queue.
void launch_fault(CudaQueue& queue, Fault fault);

} // namespace runner
