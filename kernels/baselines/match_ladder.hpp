// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match.hpp"

namespace runner {

/// What benchmarks compare `match_patches` to: a block of threads a reference, which puts the
/// distances of all candidates into shared memory. Then come the matches:
enum class MatchBaseline {
    serial,       ///< one thread enters every candidate into a sorted list
    min_and_swap, ///< one after the other by a reduction to the least, in place: a thread swaps two
                  ///< candidates half the length apart, and the half that is left is halved again
};

/// The lists of `match_patches`.
/// @throws std::invalid_argument where a window's candidates do not fit shared memory.
void match_baseline(CudaQueue& queue, MatchBaseline baseline, const Match& match,
                    const MatchLayers& layers, const float* volume, const MatchLists& lists);

} // namespace runner
