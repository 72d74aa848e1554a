// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/window_means_work.hpp"

namespace runner {

/// The means of patches of 3³ in windows of at most 11³, by the march of window_march.cuh;
/// false, and nothing done, for others, for steps as weights and for huge voxels.
bool march_window_means(CudaQueue& queue, const WindowWork& work, const float* volume, float* out);

} // namespace runner
