// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/job_file/job_file.hpp"
#include "runner/plan/job_plan.hpp"
#include "runner/prepare/plan_request.hpp"
#include "slurm/site_file.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace runner::slurm {

/// What a job asks Slurm for.
struct Allocation {
    int nodes = 1;
    int ranks = 1;           ///< a node
    int gpus = 0;            ///< a node; a rank sees all of them
    int cpus = 1;            ///< a rank
    std::int64_t memory = 0; ///< bytes a node
    double seconds = 0;      ///< after which Slurm ends the job

    int all_ranks() const { return nodes * ranks; }
};

/// Ranks that share a node of this site.
int ranks_a_node(const SiteFile& site, Backend backend);

/// What one rank may take on this site with a whole node shared by the site's ranks.
RankLimits site_limits(const SiteFile& site, Backend backend);

/// CUDA where the site has GPUs and the choice allows it. @throws Error (usage) where CUDA is asked
/// for and there are none.
Backend site_backend(const SiteFile& site, BackendChoice choice);

/// Makes a job's plan for so many ranks. @throws Error (usage) where it does not fit.
using PlanFor = std::function<PlanPtr(int ranks)>;

/// The fewest nodes on which the job's plan fits, or `nodes`, with the ranks, GPUs and cores the
/// site gives a node and the memory that the plan needs; `seconds` is left to the caller. Pure.
/// @throws Error (usage) where it fits on no number of nodes that the site allows, or on none as
/// the node's memory goes.
Allocation allocate(const SiteFile& site, Backend backend, const JobFile::Run& run,
                    std::optional<int> nodes, const PlanFor& plan_for);

} // namespace runner::slurm
