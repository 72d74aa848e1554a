// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/median/median_view.hpp"

#include <cstddef>

namespace runner {

/// The median of any window and type on the GPU, by the bits of its key.
void launch_median_search(CudaQueue& queue, ElementType type, const MedianView& view,
                          const std::byte* in, std::byte* out);

} // namespace runner
