// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match_work.hpp"

namespace runner {

/// The lists of match_patches() by one of the published selections. For the CPU in the calling
/// thread's arena, which is the queue's; all candidates of a reference are a thread's memory there
/// and a block's shared memory on a GPU.
void match_published(const CpuQueue& queue, MatchSelection selection, const MatchWork& work,
                     const float* volume, const MatchLists& lists);
void match_published(CudaQueue& queue, MatchSelection selection, const MatchWork& work,
                     const float* volume, const MatchLists& lists);

} // namespace runner
