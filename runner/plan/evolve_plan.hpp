// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/evolve_job.hpp"
#include "runner/plan/decomposition.hpp"
#include "runner/plan/plan.hpp"

#include <cstdint>
#include <optional>

namespace runner {

/// Every decision of a job whose state evolves: a value, the same on every rank.
struct EvolvePlan {
    Backend backend = Backend::cpu;
    EvolveShape shape;
    /// Of the state's rows, one frame. Its halo: generations between two exchanges, 0 for one rank.
    /// Its chunks: rows that pass between the state and storage at once.
    Decomposition decomposition;
    int lanes = 1; ///< such chunks in flight
    int io_threads = 1;
    std::int64_t table_bytes = 0;
    MemoryNeed need;              ///< of the rank that needs most
    std::int64_t host_memory = 0; ///< the limits it was made for
    std::int64_t device_memory = 0;

    std::int64_t chunk_bytes() const;
    /// Rows that pass through the device at once.
    std::int64_t chunk_rows() const { return decomposition.chunk_rows; }
};

/// Makes the plan; pure. @throws Error (usage) when it does not fit.
EvolvePlan make_evolve_plan(const EvolveJob& job, const PlanRequest& request);

/// As halved() of a stream's plan: smaller chunks between the state and storage, or fewer at once.
/// The state stays as it is.
std::optional<EvolvePlan> halved(const EvolvePlan& plan);

} // namespace runner
