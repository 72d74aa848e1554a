// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match_work.hpp"

namespace runner {

/// The lists of match_patches() where bounds by tensor cores serve: patches of 4³, a step of at
/// most 3, windows of at most 11 along each axis. False, and nothing done, for others and where the
/// device has too little shared memory.
bool match_tensor(CudaQueue& queue, const MatchWork& work, const float* volume,
                  const MatchLists& lists);

} // namespace runner
