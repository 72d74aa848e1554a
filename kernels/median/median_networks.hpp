// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/median/median_view.hpp"

#include <cstddef>

namespace runner {

/// Medians on the GPU by networks in registers, of elements of up to 2 and from 4 bytes. Return
/// whether there are networks for the window; where not, nothing is launched. Columns are below
/// 2³⁰.
bool launch_median_narrow(CudaQueue& queue, ElementType type, const MedianView& view,
                          const std::byte* in, std::byte* out);
bool launch_median_wide(CudaQueue& queue, ElementType type, const MedianView& view,
                        const std::byte* in, std::byte* out);

} // namespace runner
