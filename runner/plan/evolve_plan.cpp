// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/evolve_plan.hpp"

#include "base/counted.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "runner/plan/halo_plan.hpp"
#include "runner/plan/plan_text.hpp"

#include <algorithm>
#include <string>

namespace runner {
namespace {

constexpr std::int64_t wanted_chunk_bytes = 8 * MiB;
constexpr int most_asked = 256;

/// Each generation more between exchanges is a row more at each side of a slab to compute in vain:
/// so many that this stays below 2 %, where the slab is high enough, and a multiple of the rule's
/// four phases.
std::int64_t usual_depth(std::int64_t slab_rows) {
    return std::clamp<std::int64_t>(slab_rows / 128 / 4 * 4, 4, 64);
}

std::int64_t most_slab_rows(const Decomposition& d) {
    std::int64_t most = 0;
    for (int rank = 0; rank < d.ranks; ++rank) {
        most = std::max(most, d.slab(rank).count());
    }
    return most;
}

/// Of the plan as it stands.
void take_memory(EvolvePlan& plan) {
    MemoryNeed need;
    std::int64_t state = 0;
    const std::int64_t row = plan.shape.state_row_bytes;
    // Of very many ranks the first are asked: the others hold no more than these.
    for (int rank = 0; rank < std::min(plan.decomposition.ranks, most_asked); ++rank) {
        const HaloPlan halo = make_halo_plan(plan.decomposition, rank);
        // Two states, by turns the older and the newer, and what snapshots are taken from.
        state = std::max(state, (2 * halo.held.count() + halo.slab.count()) * row);
        need.border = std::max(need.border, (halo.sent_rows() + halo.received_rows()) * row);
    }
    const std::int64_t chunks = plan.lanes * plan.chunk_bytes();
    need.storage = plan.need.storage;
    need.staging = chunks;
    if (plan.backend == Backend::cuda) {
        need.device = state + plan.table_bytes + chunks;
    } else {
        need.staging += state + plan.table_bytes;
        need.border = 0; // rows go from state to state
    }
    plan.need = need;
}

[[noreturn]] void refuse(const EvolvePlan& plan) {
    const JobPlan::Shortage shortage = plan.shortage();
    throw Error(
        ExitCode::usage,
        {"the job does not fit", shortage.key,
         fmt::format("a rank's part of the state and {}{}{} rows take {} and {} are allowed",
                     plan.lanes, (plan.lanes == 1 ? " chunk of " : " chunks of "),
                     plan.decomposition.chunk_rows, size_text(shortage.need),
                     size_text(shortage.limit)),
         "Use more ranks, or set " + shortage.key + " = \"" + enough_text(shortage.need) +
             "\" or more"});
}

} // namespace

std::int64_t EvolvePlan::chunk_bytes() const {
    return decomposition.chunk_rows *
           std::max({shape.in_row_bytes, shape.out_row_bytes, shape.state_row_bytes});
}

std::int64_t EvolvePlan::pieces_of_rank(int rank) const {
    return count_chunks(decomposition, rows_of_rank(rank));
}

std::int64_t EvolvePlan::bytes_to_read() const { return decomposition.rows * shape.in_row_bytes; }

std::int64_t EvolvePlan::bytes_to_write() const {
    return shape.snapshots.count() * decomposition.rows * shape.out_row_bytes;
}

double EvolvePlan::updates() const {
    return static_cast<double>(shape.cells) * static_cast<double>(shape.snapshots.generations);
}

std::string EvolvePlan::text() const {
    const Decomposition& d = decomposition;
    const Snapshots& snapshots = shape.snapshots;
    return fmt::format(
        "generations {} to {} of {}, {}{}; {}{}{}{}", snapshots.first, snapshots.last(),
        counted(d.rows, "row"), counted(snapshots.count(), "snapshot", "snapshots"),
        (d.ranks == 1
             ? ""
             : ", " + counted(d.halo, "generation", "generations") + " between halo exchanges"),
        means_text(*this, ChunkText::yes), slabs_text(d), memory_text(*this), bytes_text(*this));
}

std::vector<PlanFact> EvolvePlan::facts() const {
    const Snapshots& snapshots = shape.snapshots;
    return {{"rows", decomposition.rows},
            {"cells", shape.cells},
            {"first_generation", snapshots.first},
            {"generations", snapshots.generations},
            {"snapshots", snapshots.count()},
            {"halo_depth", decomposition.halo},
            {"chunk_rows", decomposition.chunk_rows}};
}

EvolvePlan make_evolve_plan(const EvolveJob& job, const PlanRequest& request) {
    EvolvePlan plan;
    plan.start_from(request);
    plan.shape = job.shape();
    plan.table_bytes = job.table_bytes(request.backend);
    Decomposition& d = plan.decomposition;
    d.rows = plan.shape.rows;
    d.alignment = request.alignment;
    d.ranks = request.ranks;
    const std::int64_t slab = std::max<std::int64_t>(1, most_slab_rows(d));
    d.halo = request.ranks == 1 ? 0 : request.halo_depth.value_or(usual_depth(slab));
    const auto whole_steps = [&](std::int64_t rows) {
        return std::max<std::int64_t>(1, rows / d.alignment) * d.alignment;
    };
    const std::int64_t row_bytes = std::max<std::int64_t>(1, plan.shape.out_row_bytes);
    const std::int64_t wanted = request.chunk_rows.value_or(
        std::clamp<std::int64_t>(wanted_chunk_bytes / row_bytes, 1, slab));
    plan.lanes = static_cast<int>(request.lanes.value_or(JobPlan::wanted_lanes));
    d.chunk_rows = whole_steps(wanted);
    take_memory(plan);
    while (!plan.fits()) {
        if (!request.chunk_rows && d.chunk_rows > d.alignment) {
            d.chunk_rows = whole_steps(d.chunk_rows / 2);
        } else if (!request.lanes && plan.lanes > 1) {
            --plan.lanes;
        } else {
            refuse(plan);
        }
        take_memory(plan);
    }
    return plan;
}

std::optional<EvolvePlan> halved(const EvolvePlan& plan) {
    EvolvePlan smaller = plan;
    std::int64_t& rows = smaller.decomposition.chunk_rows;
    const std::int64_t alignment = plan.decomposition.alignment;
    if (rows > alignment) {
        rows = std::max(alignment, rows / 2 / alignment * alignment);
    } else if (plan.lanes > 1) {
        --smaller.lanes;
    } else {
        return std::nullopt;
    }
    const std::int64_t saved =
        plan.lanes * plan.chunk_bytes() - smaller.lanes * smaller.chunk_bytes();
    smaller.need.staging -= saved;
    smaller.need.device -= plan.backend == Backend::cuda ? saved : 0;
    return smaller;
}

} // namespace runner
