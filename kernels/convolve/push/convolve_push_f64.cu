// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/push/convolve_push_table.cuh"

namespace runner {

template <> PushLaunch<double> push_launch<double>(std::int64_t radius) {
    return convolve_cuda::push_launch_of<double>(radius);
}

template <>
PushLaunch<double> any_push_launch<double>(std::int64_t row_radius, std::int64_t column_radius) {
    return convolve_cuda::any_push_launch_of<double>(row_radius, column_radius);
}

} // namespace runner
