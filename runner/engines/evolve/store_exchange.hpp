// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/buffer.hpp"
#include "runner/engines/evolve/state_store.hpp"
#include "runner/plan/halo_plan.hpp"
#include "runner/ranks/mpi.hpp"

#include <cstdint>
#include <utility>

namespace runner::evolve {

/// Brings the rows that a rank's store holds of other slabs up to date, through MPI. Collective,
/// from the main thread.
class StoreExchange {
  public:
    /// Bytes of the memory that an exchange takes beside a store in a file.
    static std::int64_t staging_bytes(const HaloPlan& plan, std::int64_t row_bytes) {
        return (plan.sent_rows() + plan.received_rows()) * row_bytes;
    }

    /// `staging`: staging_bytes() of host memory. The store and the ranks outlive the object.
    StoreExchange(HaloPlan plan, StateStore& store, Buffer staging, const Ranks& ranks)
        : plan_(std::move(plan)), store_(store), staging_(std::move(staging)), ranks_(ranks) {}

    void exchange();

    /// Bytes received so far.
    std::int64_t bytes() const { return bytes_; }

  private:
    HaloPlan plan_;
    StateStore& store_;
    Buffer staging_;
    const Ranks& ranks_;
    std::int64_t bytes_ = 0;
};

} // namespace runner::evolve
