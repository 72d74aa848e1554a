// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/planned_work.hpp"

#include "jobs/stream_job.hpp"
#include "runner/engines/engine.hpp"
#include "runner/engines/planned_reading.hpp"
#include "runner/plan/stream_plan.hpp"
#include "runner/prepare/passes.hpp"
#include "runner/ranks/binding.hpp"
#include "runner/ranks/host_memory.hpp"

#include <algorithm>
#include <optional>

namespace runner::trial {
namespace {

/// The operations of all chunks, with rows that two of them compute twice; of a state
/// that evolves its cells in all generations.
double operations_of(const Job& job, const JobPlan& plan) {
    if (const std::optional<EvolveShape> state = job.state()) {
        return static_cast<double>(state->cells) *
               static_cast<double>(state->snapshots.generations);
    }
    const auto* const stream = dynamic_cast<const StreamJob*>(&job);
    const auto* const planned = dynamic_cast<const StreamPlan*>(&plan);
    if (stream == nullptr || planned == nullptr) {
        return 0;
    }
    double sum = 0;
    ChunkCursor chunks(planned->decomposition, planned->decomposition.slab(0));
    while (const std::optional<Chunk> chunk = chunks.next()) {
        const BlockRun run = planned->carried_bytes > 0 ? chunk->run : BlockRun{};
        sum += stream->operations_in(chunk->block, run);
    }
    return sum;
}

} // namespace

PlannedPlace this_host() {
    PlannedPlace place;
    place.limits.cores = std::max(1, static_cast<int>(HostTopology().allowed_cpus().size()));
    place.limits.host_memory = available_host_memory().bytes;
    return place;
}

PlannedWork planned_work(JobFile file, FileAccess& files, const PlannedPlace& place) {
    if (place.backend == Backend::cuda) {
        file.run.device_memory = MemorySize{place.limits.device_memory, 0};
    }
    PlannedWork work;
    for (const JobPass& pass : passes_of(file, files)) {
        const PreparedJob prepared = prepare_pass(pass, files);
        const PlanPtr plan = plan_job(prepared, place.backend, 1, place.limits);
        work.passes.push_back({static_cast<double>(cost_of(prepared, *plan).unpacked),
                               static_cast<double>(plan->bytes_to_write()),
                               operations_of(*prepared.job, *plan)});
        work.host_bytes = std::max(work.host_bytes, plan->need.host());
        work.device_bytes = std::max(work.device_bytes, plan->need.device);
    }
    return work;
}

} // namespace runner::trial
