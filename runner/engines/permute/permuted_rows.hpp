// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/sizes.hpp"
#include "io/rows/rows.hpp"
#include "jobs/permute_job.hpp"
#include "kernels/queue/queue.hpp"
#include "runner/engines/engine.hpp"
#include "runner/plan/box_grid.hpp"

#include <cstdint>

namespace runner::permute {

/// Computes any rows of a permuted array, from the elements of the input that they are made of
/// alone, on this host's cores and in bounded memory.
class PermutedRows {
  public:
    /// `alignment`: of the output's storage. Job and reader outlive it.
    PermutedRows(const PermuteJob& job, RowReader& input, std::int64_t alignment, int threads);

    /// As RowComputer::compute().
    void compute(RowRange range, const TakeRows& take);

  private:
    static constexpr std::int64_t piece_bytes = 32 * MiB;

    std::int64_t row_bytes() const { return grid_.output().back() * grid_.shape.element_bytes; }

    const PermuteJob& job_;
    RowReader& input_;
    BoxGrid grid_;
    Queue queue_;
    std::int64_t most_rows_ = 1;
    Buffer in_;
    Buffer out_;
};

} // namespace runner::permute
