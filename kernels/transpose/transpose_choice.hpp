// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/transpose/gather/transpose_gather_plan.hpp"
#include "kernels/transpose/scatter/transpose_scatter_plan.hpp"
#include "kernels/transpose/transpose_box_plan.hpp"
#include "kernels/transpose/transpose_interleave_plan.hpp"
#include "kernels/transpose/transpose_ways.hpp"

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace runner {

struct MoveRows {};
struct MoveTiles {
    TileChoice tiles;
};
struct MoveBoxes {
    BoxWish wish;
    int group;
};
struct MoveInterleaved {
    InterleavePlan plan;
};
struct MoveScattered {
    ScatterPlan plan;
};
struct MoveGathered {
    GatherPlan plan;
};

/// Which of the CUDA kernels does a transposition, and how it is set.
using TransposeChoice =
    std::variant<MoveRows, MoveTiles, MoveBoxes, MoveInterleaved, MoveScattered, MoveGathered>;

/// The one that `transpose` takes. @param axes at least one.
TransposeChoice choose_transpose(const TransposeAxes& axes, const std::byte* in,
                                 const std::byte* out);

/// All that can do it, for measuring.
std::vector<TransposeChoice> all_transpose_choices(const TransposeAxes& axes, const std::byte* in,
                                                   const std::byte* out);

/// "tiles 4 bytes 16/16 64x64 256 threads, group 4", for tables.
std::string choice_text(const TransposeChoice& choice);

/// Transposes as chosen.
void transpose_as(CudaQueue& queue, const TransposeChoice& choice, const TransposeAxes& axes,
                  const std::byte* in, std::byte* out);

} // namespace runner
