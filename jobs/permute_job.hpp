// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "jobs/job.hpp"
#include "kernels/queue/queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace runner {

/// Extents along three axes, slowest first.
using Extents = std::array<std::int64_t, 3>;

/// What the planner and the permute engine know of a job: a box of the input becomes a box of the
/// output.
struct PermuteShape {
    ArrayInfo output; ///< type and extents of the dataset to write
    Extents input{};  ///< of the input, with leading axes of 1 where it has fewer
    std::array<int, 3> permutation = {0, 1, 2}; ///< output axis i is input axis permutation[i]
    std::int64_t element_bytes = 1;

    /// What lies along the output's axes of what has these extents along the input's.
    Extents permuted(const Extents& extents) const {
        return {extents.at(static_cast<std::size_t>(permutation[0])),
                extents.at(static_cast<std::size_t>(permutation[1])),
                extents.at(static_cast<std::size_t>(permutation[2]))};
    }

    /// The order of the input's rows that is the output; nothing where rows do not stay whole.
    std::optional<RowOrder> order_of_rows() const {
        if (permutation == std::array{1, 0, 2}) {
            return RowOrder{input[0], input[1]};
        }
        return permutation == std::array{0, 1, 2} ? std::optional(RowOrder{1, input[0] * input[1]})
                                                  : std::nullopt;
    }
};

/// A job that puts elements at other places. Pure, as StreamJob.
class PermuteJob : public Job {
  public:
    virtual PermuteShape shape() const = 0;

    ArrayInfo output() const override { return shape().output; }

    /// Puts a dense box of the input, of these extents, in the output's order into `out`, dense.
    /// Both are the queue's device memory; the CUDA form returns before the work is done.
    virtual void run(Queue& queue, const Extents& box, const std::byte* in,
                     std::byte* out) const = 0;
};

} // namespace runner
