// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/permute_plan.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "runner/plan/plan_text.hpp"

#include <algorithm>
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
    const std::vector<RowRange> rows = plan.grid.rows(plan.grid.box(index));
    return plan.done.empty() || std::any_of(rows.begin(), rows.end(), [&](const RowRange& run) {
               return count_rows(subtract({run}, plan.done)) > 0;
           });
}

/// A lane has a piece as it comes in and one as it goes out.
void take_memory(PermutePlan& plan) {
    plan.need.staging = plan.piece_bytes() * 2 * plan.lanes;
    plan.need.device = plan.backend == Backend::cuda ? plan.need.staging : 0;
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
    return output[0] * output[1];
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
        for (const RowRange& run : grid.rows(grid.box(index))) {
            rows += count_rows(subtract({run}, done));
        }
    }
    return rows;
}

std::int64_t PermutePlan::pieces() const {
    return ceil_divide(grid.first, piece_first) * ceil_divide(grid.second, piece_second);
}

PermuteBox PermutePlan::piece(std::int64_t box, std::int64_t index) const {
    const PermuteBox whole = grid.box(box);
    const std::int64_t columns = ceil_divide(grid.second, piece_second);
    const auto part = [](const RowRange& all, std::int64_t extent, std::int64_t nth) {
        return RowRange{std::min(all.first + nth * extent, all.last),
                        std::min(all.first + (nth + 1) * extent, all.last)};
    };
    return {part(whole.first, piece_first, index / columns),
            part(whole.second, piece_second, index % columns)};
}

std::int64_t PermutePlan::piece_bytes() const { return piece_first * piece_second * row_bytes(); }

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

std::string PermutePlan::text() const {
    constexpr std::int64_t short_run = 64 * KiB;
    const std::int64_t all = total_rows() * row_bytes();
    std::string text =
        fmt::format("{} of {} x {} x {}; {}", counted(grid.boxes(), "box", "boxes"), grid.first,
                    grid.second, grid.output()[2], means_text(*this, ChunkText::no));
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
    return {{"boxes", grid.boxes()},
            {"box", std::vector<std::int64_t>{grid.first, grid.second, grid.output()[2]}}};
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
            room = *request.chunk_rows * output[2] * plan.shape.element_bytes;
        }
        plan.grid =
            make_box_grid(plan.shape, request.alignment, room, boxes_a_rank * request.ranks);
        plan.piece_first = plan.grid.first;
        plan.piece_second = plan.grid.second;
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
    const bool can_halve_second = plan.piece_second > plan.alignment;
    if (plan.piece_first > 1 &&
        (!can_halve_second || plan.piece_first >= plan.piece_second / plan.alignment)) {
        smaller.piece_first = plan.piece_first / 2;
    } else if (can_halve_second) {
        smaller.piece_second =
            std::max(plan.alignment, plan.piece_second / 2 / plan.alignment * plan.alignment);
    } else if (plan.lanes > 1) {
        --smaller.lanes;
    } else {
        return std::nullopt;
    }
    take_memory(smaller);
    return smaller;
}

} // namespace runner
