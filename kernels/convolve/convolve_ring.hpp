// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/convolve/convolve_view.hpp"
#include "kernels/queue/cuda_queue.hpp"

#include <cstdint>
#include <vector>

namespace runner {

/// Both passes for any radii and types; T is the compute type, the taps are reversed: in the order
/// in which they are applied. The kernel fills in how it cuts `view` into tiles.
template <class T>
void convolve_ring(CudaQueue& queue, const ConvolveView<T>& view, std::int64_t frames,
                   ElementType in_type, ElementType out_type, const std::vector<T>& row_taps,
                   const std::vector<T>& column_taps);

} // namespace runner
