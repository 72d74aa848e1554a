// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/evolve_job.hpp"
#include "runner/plan/decomposition.hpp"
#include "runner/plan/evolve/sweep_plan.hpp"
#include "runner/plan/job_plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// The plan of a job whose state evolves.
struct EvolvePlan : JobPlan {
    EvolveShape shape;
    /// The decomposition of the state's rows, one frame. Its halo: generations between two
    /// exchanges, 0 for one rank with the state on its device; else sweep.depth. Its chunks: rows
    /// that pass between the state and storage at once.
    Decomposition decomposition;
    std::int64_t table_bytes = 0;
    StateHome home = StateHome::device;
    Sweep sweep; ///< of a state that is not on the device

    std::int64_t chunk_bytes() const;
    /// A chunk as rows of the state.
    std::int64_t packed_bytes() const;
    /// Bytes of a rank's rows where they are not on the device: those it holds, and as many more as
    /// a sweep is deep, since a sweep writes rows that far from where it read them.
    std::int64_t store_bytes(int rank) const;
    /// Bytes of the rows that a band needs on the device.
    std::int64_t window_bytes() const;
    std::int64_t scratch_bytes() const override;

    int rank_count() const override { return decomposition.ranks; }
    RowRange rows_of_rank(int rank) const override { return decomposition.slab(rank); }
    std::int64_t pieces_of_rank(int rank) const override;
    std::int64_t chunk_rows() const override { return decomposition.chunk_rows; }
    const ArrayInfo& output() const override { return shape.output; }
    std::int64_t bytes_to_read() const override;
    std::int64_t bytes_to_write() const override;
    std::int64_t cells() const override { return shape.cells; }
    double updates() const override;
    std::string text() const override;
    std::vector<PlanFact> facts() const override;
};

/// Makes the plan; pure. @throws Error (usage) when it does not fit.
EvolvePlan make_evolve_plan(const EvolveJob& job, const PlanRequest& request);

/// As halved() of a stream's plan: smaller chunks between the state and storage, or fewer at once.
/// The state stays as it is.
std::optional<EvolvePlan> halved(const EvolvePlan& plan);

} // namespace runner
