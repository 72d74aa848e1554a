// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/permute_plan.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "runner/plan/plan_text.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

namespace runner {
namespace {

/// More would not make runs longer where they are long enough, and takes memory from others.
constexpr std::int64_t largest_box = 256 * MiB;
constexpr std::int64_t boxes_a_rank = 16;

/// A lane has a box as it comes in and one as it goes out.
std::int64_t box_room(const PlanRequest& request, std::int64_t storage, std::int64_t lanes) {
    std::int64_t room = (request.host_memory - storage) / (2 * lanes);
    if (request.backend == Backend::cuda) {
        room = std::min(room, request.device_memory / (2 * lanes));
    }
    return std::min(room, largest_box);
}

bool has_rows_to_do(const PermutePlan& plan, std::int64_t index) {
    if (plan.done.empty()) {
        return true;
    }
    const std::vector<RowRange> rows = plan.grid.rows(plan.grid.box(index));
    return std::any_of(rows.begin(), rows.end(), [&](const RowRange& run) {
        return count_rows(subtract({run}, plan.done)) > 0;
    });
}

/// A lane has a piece as it comes in and one as it goes out.
void take_memory(PermutePlan& plan) {
    plan.need.staging = plan.piece_bytes() * 2 * plan.lanes;
    plan.need.device = plan.backend == Backend::cuda ? plan.need.staging : 0;
}

/// "4 x 20 x 30".
std::string extents_text(const std::vector<std::int64_t>& extents) {
    std::string text;
    for (const std::int64_t extent : extents) {
        text += (text.empty() ? "" : " x ") + std::to_string(extent);
    }
    return text;
}

[[noreturn]] void refuse(const PermutePlan& plan) {
    const JobPlan::Shortage shortage = plan.shortage();
    throw Error(ExitCode::usage,
                {"the job does not fit", shortage.key,
                 "rows of the output are made whole: a box of " +
                     size_text(plan.grid.most_bytes()) + " in and out takes " +
                     size_text(shortage.need) + " and " + size_text(shortage.limit) +
                     " are allowed",
                 "Set " + shortage.key + " = \"" + enough_text(shortage.need) + "\" or more"});
}

} // namespace

std::int64_t PermutePlan::total_rows() const {
    const Extents output = grid.output();
    return checked_product(std::span(output).first(output.size() - 1));
}

std::vector<std::int64_t> PermutePlan::boxes(int rank) const {
    std::vector<std::int64_t> to_do;
    for (std::int64_t index = 0; index < grid.boxes(); ++index) {
        if (has_rows_to_do(*this, index)) {
            to_do.push_back(index);
        }
    }
    const auto count = std::ssize(to_do);
    const auto begin = to_do.begin() + count * rank / ranks;
    return {begin, to_do.begin() + count * (rank + 1) / ranks};
}

std::int64_t PermutePlan::rows_to_do(const std::vector<std::int64_t>& boxes) const {
    std::int64_t rows = 0;
    for (const std::int64_t index : boxes) {
        const PermuteBox box = grid.box(index);
        if (done.empty()) {
            rows += rows_of(box);
            continue;
        }
        for (const RowRange& run : grid.rows(box)) {
            rows += count_rows(subtract({run}, done));
        }
    }
    return rows;
}

std::int64_t PermutePlan::pieces() const {
    std::int64_t count = 1;
    for (std::size_t axis = 0; axis < piece_extents.size(); ++axis) {
        count *= ceil_divide(grid.box_extents[axis], piece_extents[axis]);
    }
    return count;
}

PermuteBox PermutePlan::piece(std::int64_t box, std::int64_t index) const {
    PermuteBox part = grid.box(box);
    for (std::size_t axis = part.size(); axis-- > 0;) {
        const std::int64_t along = ceil_divide(grid.box_extents[axis], piece_extents[axis]);
        const RowRange all = part[axis];
        const std::int64_t first = all.first + index % along * piece_extents[axis];
        part[axis] = {std::min(first, all.last), std::min(first + piece_extents[axis], all.last)};
        index /= along;
    }
    return part;
}

std::int64_t PermutePlan::chunk_rows() const { return checked_product(piece_extents); }

std::int64_t PermutePlan::piece_bytes() const { return chunk_rows() * row_bytes(); }

RowRange PermutePlan::rows_of_rank(int rank) const {
    const std::vector<std::int64_t> own = boxes(rank);
    if (own.empty()) {
        return {};
    }
    return {grid.rows(grid.box(own.front())).front().first,
            grid.rows(grid.box(own.back())).back().last};
}

std::int64_t PermutePlan::bytes_to_write() const {
    return (total_rows() - count_rows(done)) * row_bytes();
}

std::vector<std::int64_t> PermutePlan::box_shape() const {
    std::vector<std::int64_t> extents = grid.box_extents;
    extents.push_back(grid.output().back());
    return extents;
}

std::string PermutePlan::text() const {
    constexpr std::int64_t short_run = 64 * KiB;
    const std::int64_t all = total_rows() * row_bytes();
    std::string text = fmt::format("{} of {}; {}", counted(grid.boxes(), "box", "boxes"),
                                   extents_text(box_shape()), means_text(*this, ChunkText::no));
    for (int rank = 0; rank < std::min(ranks, most_listed_ranks); ++rank) {
        text +=
            fmt::format("  rank {}: {}", rank, counted(pieces_of_rank(rank), "box\n", "boxes\n"));
    }
    text += memory_text(*this) + bytes_text(*this);
    text += "  " + counted(all / grid.in_run_bytes(), "read of ", "reads of ") +
            size_text(grid.in_run_bytes()) + ", " +
            counted(all / grid.out_run_bytes(), "write of ", "writes of ") +
            size_text(grid.out_run_bytes()) + "\n";
    if (std::min(grid.in_run_bytes(), grid.out_run_bytes()) < short_run && grid.boxes() > 1) {
        text += "  these are short, and a disk is slow with them: raise run.host_memory" +
                std::string(backend == Backend::cuda ? " and run.device_memory\n" : "\n");
    }
    return text;
}

std::vector<PlanFact> PermutePlan::facts() const {
    return {{"boxes", grid.boxes()}, {"box", box_shape()}};
}

std::vector<PlanFact> PermutePlan::io_facts() const {
    const std::int64_t all = total_rows() * row_bytes();
    return {{"reads", all / grid.in_run_bytes()},
            {"read_bytes", grid.in_run_bytes()},
            {"writes", all / grid.out_run_bytes()},
            {"write_bytes", grid.out_run_bytes()}};
}

PermutePlan make_permute_plan(const PermuteJob& job, const PlanRequest& request) {
    PermutePlan plan;
    plan.start_from(request);
    plan.shape = job.shape();
    plan.ranks = request.ranks;
    plan.done = request.done;
    plan.alignment = request.alignment;
    plan.lanes = static_cast<int>(request.lanes.value_or(JobPlan::wanted_lanes));
    for (;; --plan.lanes) {
        std::int64_t room = box_room(request, plan.need.storage, plan.lanes);
        const Extents output = plan.shape.permuted(plan.shape.input);
        if (request.chunk_rows) {
            room = *request.chunk_rows * output.back() * plan.shape.element_bytes;
        }
        plan.grid =
            make_box_grid(plan.shape, request.alignment, room, boxes_a_rank * request.ranks);
        plan.piece_extents = plan.grid.box_extents;
        take_memory(plan);
        if (plan.fits()) {
            return plan;
        }
        if (request.lanes || plan.lanes == 1) {
            refuse(plan);
        }
    }
}

std::optional<PermutePlan> halved(const PermutePlan& plan) {
    PermutePlan smaller = plan;
    // The axis with most steps to halve; of equal ones the slower. Along the last a step is one of
    // the alignment.
    Extents steps = plan.piece_extents;
    steps.back() /= plan.alignment;
    for (std::size_t axis = 0; axis < steps.size(); ++axis) {
        const std::int64_t least = axis + 1 == steps.size() ? plan.alignment : 1;
        steps[axis] = plan.piece_extents[axis] > least ? steps[axis] : 0;
    }
    const auto most = std::max_element(steps.begin(), steps.end());
    const auto halved_axis = static_cast<std::size_t>(most - steps.begin());
    std::int64_t& extent = smaller.piece_extents[halved_axis];
    if (*most > 0 && halved_axis + 1 == steps.size()) {
        extent = std::max(plan.alignment, extent / 2 / plan.alignment * plan.alignment);
    } else if (*most > 0) {
        extent /= 2;
    } else if (plan.lanes > 1) {
        --smaller.lanes;
    } else {
        return std::nullopt;
    }
    take_memory(smaller);
    return smaller;
}

} // namespace runner
