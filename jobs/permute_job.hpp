// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "jobs/job.hpp"
#include "kernels/queue/queue.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace runner {

/// Extents along the axes of an array, slowest first.
using Extents = std::vector<std::int64_t>;

/// What the planner and the permute engine know of a job: a box of the input becomes a box of the
/// output.
struct PermuteShape {
    ArrayInfo output; ///< type and extents of the dataset to write
    /// Extents of the input: three axes or more, leading ones of 1 where it has fewer.
    Extents input = {0, 0, 0};
    std::vector<int> permutation = {0, 1, 2}; ///< output axis i is input axis permutation[i]
    std::int64_t element_bytes = 1;

    std::size_t axes() const { return permutation.size(); }

    /// What lies along the output's axes of what has these extents along the input's.
    Extents permuted(const Extents& extents) const {
        Extents made;
        for (const int axis : permutation) {
            made.push_back(extents.at(static_cast<std::size_t>(axis)));
        }
        return made;
    }

    /// The order of the input's rows that is the output; nothing where rows do not stay whole, or
    /// change places otherwise than a RowOrder says.
    std::optional<RowOrder> order_of_rows() const {
        if (permutation == std::vector{1, 0, 2}) {
            return RowOrder{input[0], input[1]};
        }
        return std::is_sorted(permutation.begin(), permutation.end())
                   ? std::optional(RowOrder{1, checked_product(std::span(input).first(axes() - 1))})
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
