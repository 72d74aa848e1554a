// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/pipeline/step_chain.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/queue/queue.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace runner {

/// Device memory by which a block of a pipeline leaves the next one the last rows of each step's
/// buffer, but the first one's: a place a step, which they fill to its end.
class CarriedRows {
  public:
    CarriedRows(const StepChain& chain, std::span<const StreamShape> steps);

    std::int64_t bytes() const { return places_.back().end; }
    std::int64_t bytes_of(std::size_t i) const {
        return i == 0 ? 0 : places_[i].end - places_[i - 1].end;
    }

    /// Copies the first work.carried rows of step `i`'s buffer from where the block before has left
    /// them.
    void take(Queue& queue, const std::byte* carried, std::size_t i, const StepWork& work,
              std::byte* buffer) const;

    /// Copies the last rows of step `i`'s buffer, StepChain::most_carried() or all, to where the
    /// next block finds them.
    void leave(Queue& queue, std::byte* carried, std::size_t i, const StepWork& work,
               const std::byte* buffer) const;

  private:
    /// A step's.
    struct Place {
        std::int64_t end = 0; ///< bytes, where the next one begins
        std::int64_t row_bytes = 0;
        std::int64_t most_rows = 0;
    };

    std::vector<Place> places_;
};

} // namespace runner
