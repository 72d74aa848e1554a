// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/push/convolve_push_table.cuh"

namespace runner {

template <> PushLaunch<float> push_launch<float>(std::int64_t radius) {
    return convolve_cuda::push_launch_of<float>(radius);
}

template <>
PushLaunch<float> any_push_launch<float>(std::int64_t row_radius, std::int64_t column_radius) {
    return convolve_cuda::any_push_launch_of<float>(row_radius, column_radius);
}

} // namespace runner
