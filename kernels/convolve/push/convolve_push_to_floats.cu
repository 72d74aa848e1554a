// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/push/convolve_push_table.cuh"

#include <cstdint>

namespace runner {

template PushLaunch<float> integer_push_launch<std::uint8_t, float>(std::int64_t);
template PushLaunch<float> integer_push_launch<std::uint16_t, float>(std::int64_t);

} // namespace runner
