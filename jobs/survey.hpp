// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cpu_queue.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace runner {

/// What a survey found in a part of the input. Of two parts together it is the sums of `counts`,
/// element by element, the greater of `most` and the lesser of `least`.
struct Findings {
    std::vector<std::uint64_t> counts;
    std::int64_t most = 0;
    std::int64_t least = 0;
    /// Where the samples of colour pixels are surveyed each by itself: theirs, put together so too.
    std::vector<Findings> samples = {};
};

/// A pass over the input, or several, before the stream, in parts that any rank may take in any
/// order.
class Survey {
  public:
    virtual ~Survey() = default;

    /// Parts begin on multiples of so many rows and hold as many, or end with the input.
    virtual std::int64_t step() const = 0;

    /// Takes rows [first, first + rows), counted through all frames; host memory.
    /// @throws Error (input) for values that the job does not take.
    virtual void add(CpuQueue& queue, std::int64_t first, std::int64_t rows,
                     const std::byte* in) = 0;

    /// The findings of this pass; once its parts are put together, of all.
    virtual Findings& findings() = 0;

    /// Called with the pass's findings of all parts, the same on every rank: whether the input is
    /// to be gone through once more. If not, findings() has the end's.
    virtual bool needs_another_pass() { return false; }
};

} // namespace runner
