// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

namespace runner {

/// The shared memory that a launch asked for.
__device__ inline uint4* dynamic_shared() {
    extern __shared__ uint4 dynamic_shared_memory[];
    return dynamic_shared_memory;
}

} // namespace runner
