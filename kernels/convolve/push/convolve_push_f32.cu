// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/push/convolve_push_table.cuh"

#include <cstdint>

namespace runner {

template PushLaunch<float> push_launch(std::int64_t);
template PushLaunch<float> any_push_launch(std::int64_t, std::int64_t);

} // namespace runner
