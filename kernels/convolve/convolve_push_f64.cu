// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve_push_table.cuh"

namespace runner {

template <> PushLaunch<double> push_launch<double>(std::int64_t radius) {
    return convolve_cuda::push_launch_of<double>(radius);
}

} // namespace runner
