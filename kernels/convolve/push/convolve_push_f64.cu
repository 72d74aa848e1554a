// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/push/convolve_push_table.cuh"

#include <cstdint>

namespace runner {

template PushLaunch<double> push_launch(std::int64_t);
template PushLaunch<double> any_push_launch(std::int64_t, std::int64_t);

} // namespace runner
