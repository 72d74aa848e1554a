// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve_push_table.cuh"

namespace runner {

template <> PushLaunch<float> push_launch<float>(std::int64_t radius) {
    return convolve_cuda::push_launch_of<float>(radius);
}

} // namespace runner
