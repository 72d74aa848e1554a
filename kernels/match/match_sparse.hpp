// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match_work.hpp"

namespace runner {

/// The lists of match_patches() with a sum for every candidate of every reference by itself: any
/// step, patch and window.
void match_sparse(CudaQueue& queue, const MatchWork& work, const float* volume,
                  const MatchLists& lists);

} // namespace runner
