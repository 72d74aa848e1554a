// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "jobs/evolve_job.hpp"
#include "runner/engines/take_memory.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/output/commits.hpp"
#include "runner/plan/evolve_plan.hpp"
#include "runner/ranks/mpi.hpp"
#include "runner/watch/stages.hpp"
#include "runner/watch/stop.hpp"
#include "runner/watch/trace.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace runner::evolve {

/// All that a rank's share of an evolving state works with; everything outlives the call.
struct Evolution {
    const EvolvePlan& plan;
    const EvolveJob& job;
    const Ranks& ranks;
    RowReader& reader; ///< of the input
    RowWriter& writer;
    output::Commits* commits; ///< null: nothing keeps what is done, and there are no checkpoints
    RunProgress& progress;
    Trace* trace; ///< null: none is wanted
    const Stop& stop;
    HaloChoice halo;
    std::string journal; ///< folder, for checkpoints
    /// Generation of the checkpoint to resume from; nothing: the input is where it begins.
    std::optional<std::uint64_t> checkpoint;
    double checkpoint_seconds; ///< between two checkpoints at least; 0: after each step
    RowWriter::Sync sync;
    /// Gets a line before the state is loaded, if chunks were halved; may be empty.
    std::function<void(const std::string& line)> say = {};
};

/// Takes the state from where it begins to its last generation: it stays on the device, ranks trade
/// halo rows, snapshots leave while the next generations are computed. Where the memory of the
/// chunks that pass between state and storage cannot be taken, they are halved as those of a
/// stream. Now and then all ranks agree on whether to continue, to write a checkpoint, or to stop,
/// which writes one too. Collective, from the main thread. Returns when the last snapshot is handed
/// to the writer, or when all ranks stop: progress.rows_done counts the generations from the
/// state's first one. A failure is thrown on the rank it happened on.
RunTimes run_evolution(const Evolution& evolution, const QueueMaker& make_queue);

} // namespace runner::evolve
