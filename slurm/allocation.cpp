// SPDX-License-Identifier: BSD-3-Clause
#include "slurm/allocation.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"

#include <algorithm>
#include <string>

namespace runner::slurm {
namespace {

constexpr double usual_share = 0.8; // of the job file's run.host_memory

// The memory of a rank beside its plan: the program, MPI, CUDA's driver, threads, the probe of
// inputs.
constexpr std::int64_t own_memory = GiB;

/// So much that the rank, which takes its share of what Slurm granted, comes to the same plan.
std::int64_t memory_of_rank(const JobFile::Run& run, const JobPlan& plan) {
    const MemorySize wanted = run.host_memory.value_or(MemorySize{0, usual_share});
    const double share = wanted.fraction > 0 ? wanted.fraction : 1;
    return static_cast<std::int64_t>(static_cast<double>(plan.need.host()) / share) + own_memory;
}

PlanPtr plan_for_fewest(const SiteFile& site, int ranks, std::optional<int> wanted,
                        const PlanFor& plan_for, int& nodes) {
    const int most = wanted.value_or(site.limits.nodes);
    for (nodes = wanted.value_or(1);; ++nodes) {
        try {
            return plan_for(nodes * ranks);
        } catch (const Error& error) {
            if (error.code() != ExitCode::usage || nodes >= most) {
                ErrorText text = error.text();
                text.why +=
                    fmt::format(", on {}{}{}{}", nodes, (nodes == 1 ? " node of " : " nodes of "),
                                ranks, (ranks == 1 ? " rank" : " ranks"));
                throw Error(error.code(), std::move(text));
            }
        }
    }
}

} // namespace

int ranks_a_node(const SiteFile& site, Backend backend) {
    const int usual = backend == Backend::cuda ? site.node.gpus : 1;
    return site.node.ranks.value_or(std::min(usual, site.node.cpus));
}

RankLimits site_limits(const SiteFile& site, Backend backend) {
    const int ranks = ranks_a_node(site, backend);
    RankLimits limits;
    limits.cores = site.node.cpus / ranks;
    limits.host_memory = site.node.memory / ranks;
    if (backend == Backend::cuda) {
        // More ranks than GPUs share them.
        const int sharers = (ranks + site.node.gpus - 1) / site.node.gpus;
        limits.device_memory = site.node.gpu_memory / sharers;
    }
    return limits;
}

Backend site_backend(const SiteFile& site, BackendChoice choice) {
    if (choice == BackendChoice::cuda && site.node.gpus == 0) {
        throw Error(ExitCode::usage, {"the job asks for GPUs and the site has none", site.path,
                                      "node.gpus is 0 there",
                                      "Set node.gpus and node.gpu_memory, or use --backend"});
    }
    return choice != BackendChoice::cpu && site.node.gpus > 0 ? Backend::cuda : Backend::cpu;
}

Allocation allocate(const SiteFile& site, Backend backend, const JobFile::Run& run,
                    std::optional<int> nodes, const PlanFor& plan_for) {
    if (nodes && *nodes > site.limits.nodes) {
        throw Error(ExitCode::usage, {"too many nodes", site.path,
                                      fmt::format("limits.nodes is {} there and --nodes is {}",
                                                  site.limits.nodes, *nodes),
                                      ""});
    }
    Allocation allocation;
    allocation.ranks = ranks_a_node(site, backend);
    const PlanPtr plan = plan_for_fewest(site, allocation.ranks, nodes, plan_for, allocation.nodes);
    allocation.gpus = backend == Backend::cuda ? site.node.gpus : 0;
    allocation.cpus = site.node.cpus / allocation.ranks;
    const std::int64_t wanted = memory_of_rank(run, *plan) * allocation.ranks;
    // A plan that fits its share of the node's memory is not sent away for what comes beside it.
    allocation.memory = std::min((wanted + MiB - 1) / MiB * MiB, site.node.memory);
    return allocation;
}

} // namespace runner::slurm
