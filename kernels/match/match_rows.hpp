// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match.hpp"

namespace runner {

/// Bytes of a row of lists side by side: `count` indices, `count` distances, how many there are.
constexpr std::int64_t match_row_bytes(int count) { return 12 * std::int64_t{count} + 4; }

/// Puts rows of lists side by side into `out`, rows · match_row_bytes(count) bytes aligned to 4.
/// All is device memory; the CUDA form returns before the work is done.
void pack_match_rows(CpuQueue& queue, std::int64_t rows, int count, const MatchLists& lists,
                     std::byte* out);
void pack_match_rows(CudaQueue& queue, std::int64_t rows, int count, const MatchLists& lists,
                     std::byte* out);

} // namespace runner
