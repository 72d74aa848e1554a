// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <source_location>

#include <cuda_runtime_api.h>

namespace runner {

/// @throws Error (gpu) naming the call's place and CUDA's reason unless `status` is success.
void cuda_check(cudaError_t status, std::source_location place = std::source_location::current());

} // namespace runner
