// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/evolve_plan.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
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

/// The memory of the plan as it stands.
void take_memory(EvolvePlan& plan) {
    MemoryNeed need;
    need.storage = plan.need.storage;
    std::int64_t state = 0;
    std::int64_t store = 0;
    const std::int64_t row = plan.shape.state_row_bytes;
    // The first of very many ranks are asked: the others hold no more than these.
    for (int rank = 0; rank < std::min(plan.decomposition.ranks, most_asked); ++rank) {
        const HaloPlan halo = make_halo_plan(plan.decomposition, rank);
        // Two states, by turns the older and the newer, and what snapshots are taken from.
        state = std::max(state, (2 * halo.held.count() + halo.slab.count()) * row);
        store = std::max(store, plan.store_bytes(rank));
        need.border = std::max(need.border, (halo.sent_rows() + halo.received_rows()) * row);
    }
    const std::int64_t chunks = plan.lanes * plan.chunk_bytes();
    const std::int64_t packed = plan.lanes * plan.packed_bytes();
    const std::int64_t window = plan.sweep.lanes * plan.window_bytes();
    std::int64_t device = state;
    need.staging = chunks;
    if (plan.home != StateHome::device) {
        device = 2 * window + (plan.backend == Backend::cuda ? packed : 0);
        need.staging += plan.home == StateHome::host ? store : packed;
    }
    if (plan.backend == Backend::cuda) {
        need.device = device + plan.table_bytes + chunks;
        need.staging += plan.home == StateHome::disk ? window : 0;
    } else {
        need.staging += device + plan.table_bytes;
        if (plan.home == StateHome::device) {
            need.border = 0; // rows go from state to state
        }
    }
    plan.need = need;
}

/// Bands as large as is of use and fits, for sweeps of the plan's depth; false where not even one
/// row of a band fits.
bool take_bands(EvolvePlan& plan, std::int64_t slab_rows) {
    plan.sweep.band_rows = 1;
    take_memory(plan);
    if (!plan.fits()) {
        return false;
    }
    const std::int64_t row = plan.sweep.lanes * plan.shape.state_row_bytes;
    const bool is_cuda = plan.backend == Backend::cuda;
    std::int64_t fitting = slab_rows;
    if (is_cuda) {
        fitting = std::min(fitting, 1 + (plan.device_memory - plan.need.device) / (2 * row));
    }
    if (!is_cuda || plan.home == StateHome::disk) {
        const std::int64_t buffers = is_cuda ? 1 : 2;
        fitting = std::min(fitting, 1 + (plan.host_memory - plan.need.host()) / (buffers * row));
    }
    plan.sweep.band_rows =
        useful_band(plan.backend, plan.sweep.depth, fitting, slab_rows, plan.shape.state_row_bytes);
    take_memory(plan);
    return true;
}

/// The plan with sweeps of the depth that promises to be fastest; as it is with the shallowest
/// where none fits.
EvolvePlan with_sweeps(const EvolvePlan& plan, std::optional<std::int64_t> given_depth) {
    const Snapshots& snapshots = plan.shape.snapshots;
    std::int64_t most = std::max<std::int64_t>(1, snapshots.generations);
    if (snapshots.every > 0) {
        most = std::min(most, snapshots.every);
    }
    const std::int64_t slab = std::max<std::int64_t>(1, most_slab_rows(plan.decomposition));
    // Deeper than the state has rows is of no use, and takes memory.
    const std::vector<std::int64_t> depths =
        given_depth ? std::vector{std::min({*given_depth, most, plan.shape.rows})}
                    : sweep_depths(most);
    std::optional<EvolvePlan> best;
    double least = 0;
    EvolvePlan tried = plan;
    for (auto depth = depths.rbegin(); depth != depths.rend(); ++depth) {
        tried = plan;
        tried.decomposition.halo = tried.sweep.depth = *depth;
        tried.sweep.lanes = sweep_lanes(plan.backend, plan.home);
        if (!take_bands(tried, slab)) {
            continue;
        }
        const double cost = sweep_cost(plan.backend, plan.home, tried.sweep, slab);
        if (!best || cost < least) {
            best = tried;
            least = cost;
        }
    }
    return best.value_or(tried);
}

/// Where the state is, a line; nothing where it is on the device.
std::string sweep_text(const EvolvePlan& plan) {
    if (plan.home == StateHome::device) {
        return "";
    }
    const std::string place =
        plan.home == StateHome::host
            ? "in host memory"
            : "in scratch files beside the output, " + size_text(plan.scratch_bytes()) + " in all";
    return fmt::format("  the state is kept {}: sweeps of up to {}, in bands of {}, {} in flight\n",
                       place, counted(plan.sweep.depth, "generation"),
                       counted(plan.sweep.band_rows, "row"), plan.sweep.lanes);
}

[[noreturn]] void refuse(const EvolvePlan& plan) {
    const JobPlan::Shortage shortage = plan.shortage();
    throw Error(
        ExitCode::usage,
        {"the job does not fit", shortage.key,
         fmt::format("even with the state in a scratch file, {} of {} and {} of {} take {} and {} "
                     "are allowed",
                     counted(plan.lanes, "chunk"), counted(plan.decomposition.chunk_rows, "row"),
                     counted(plan.sweep.lanes, "band"),
                     counted(plan.sweep.band_rows + 2 * plan.sweep.depth, "row"),
                     size_text(shortage.need), size_text(shortage.limit)),
         "Use more ranks, or set " + shortage.key + " = \"" + enough_text(shortage.need) +
             "\" or more"});
}

std::int64_t whole_steps(const Decomposition& d, std::int64_t rows) {
    return std::max<std::int64_t>(1, rows / d.alignment) * d.alignment;
}

/// With the plan's chunks, or as much smaller ones, or fewer at once, as memory asks for; the
/// smallest where none fits.
EvolvePlan with_fitting_chunks(EvolvePlan plan, const PlanRequest& request) {
    Decomposition& d = plan.decomposition;
    const std::int64_t limit =
        plan.backend == Backend::cuda ? plan.device_memory : plan.host_memory;
    const auto shrink = [&] {
        if (!request.chunk_rows && d.chunk_rows > d.alignment) {
            d.chunk_rows = whole_steps(d, d.chunk_rows / 2);
        } else if (!request.lanes && plan.lanes > 1) {
            --plan.lanes;
        } else {
            return false;
        }
        return true;
    };
    if (plan.home != StateHome::device) { // most of the memory is for bands
        while (plan.lanes * (plan.chunk_bytes() + plan.packed_bytes()) > limit / 8 && shrink()) {
        }
    }
    for (;;) {
        EvolvePlan tried = plan;
        if (plan.home == StateHome::device) {
            take_memory(tried);
        } else {
            tried = with_sweeps(plan, request.halo_depth);
        }
        if (tried.fits() || !shrink()) {
            return tried;
        }
    }
}

} // namespace

std::int64_t EvolvePlan::chunk_bytes() const {
    return decomposition.chunk_rows *
           std::max({shape.in_row_bytes, shape.out_row_bytes, shape.state_row_bytes});
}

std::int64_t EvolvePlan::packed_bytes() const {
    return decomposition.chunk_rows * shape.state_row_bytes;
}

std::int64_t EvolvePlan::store_bytes(int rank) const {
    const RowRange held = make_halo_plan(decomposition, rank).held;
    return held.empty() ? 0 : (held.count() + sweep.depth) * shape.state_row_bytes;
}

std::int64_t EvolvePlan::window_bytes() const {
    return std::min(sweep.band_rows + 2 * sweep.depth, shape.rows) * shape.state_row_bytes;
}

std::int64_t EvolvePlan::scratch_bytes() const {
    std::int64_t bytes = 0;
    for (int rank = 0; home == StateHome::disk && rank < decomposition.ranks; ++rank) {
        bytes += store_bytes(rank);
    }
    return bytes;
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
        "generations {} to {} of {}, {}{}; {}{}{}{}{}", snapshots.first, snapshots.last(),
        counted(d.rows, "row"), counted(snapshots.count(), "snapshot"),
        (d.ranks == 1 ? "" : ", " + counted(d.halo, "generation") + " between halo exchanges"),
        means_text(*this, ChunkText::yes), slabs_text(d), sweep_text(*this), memory_text(*this),
        bytes_text(*this));
}

std::vector<PlanFact> EvolvePlan::facts() const {
    const Snapshots& snapshots = shape.snapshots;
    return {{"rows", decomposition.rows},
            {"cells", shape.cells},
            {"first_generation", snapshots.first},
            {"generations", snapshots.generations},
            {"snapshots", snapshots.count()},
            {"halo_depth", decomposition.halo},
            {"chunk_rows", decomposition.chunk_rows},
            {"sweep_depth", sweep.depth},
            {"band_rows", sweep.band_rows},
            {"sweep_lanes", std::int64_t{sweep.lanes}},
            {"scratch_bytes", scratch_bytes()}};
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
    const std::int64_t row_bytes = std::max<std::int64_t>(1, plan.shape.out_row_bytes);
    const std::int64_t wanted = request.chunk_rows.value_or(
        std::clamp<std::int64_t>(wanted_chunk_bytes / row_bytes, 1, slab));
    plan.lanes = static_cast<int>(request.lanes.value_or(JobPlan::wanted_lanes));
    d.chunk_rows = whole_steps(d, wanted);
    EvolvePlan tried;
    for (const StateHome home : {StateHome::device, StateHome::host, StateHome::disk}) {
        plan.home = home;
        tried = with_fitting_chunks(plan, request);
        if (tried.fits()) {
            return tried;
        }
    }
    refuse(tried);
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
    take_memory(smaller);
    return smaller;
}

} // namespace runner
