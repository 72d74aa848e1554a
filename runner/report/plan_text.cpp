// SPDX-License-Identifier: BSD-3-Clause
#include "base/counted.hpp"
#include "base/durations.hpp"
#include "base/sizes.hpp"
#include "runner/report/report.hpp"

#include <algorithm>
#include <string>
#include <variant>

namespace runner {
namespace {

template <class SomePlan> std::string means_text(const SomePlan& plan) {
    return std::string(plan.backend == Backend::cuda ? "cuda" : "cpu") + ", chunks of " +
           counted(plan.decomposition.chunk_rows, "row") + ", " +
           counted(plan.lanes, "lane", "lanes") + ", " +
           counted(plan.io_threads, "I/O thread\n", "I/O threads\n");
}

std::string slabs_text(const Decomposition& d) {
    constexpr int most_listed = 16;
    std::string text;
    for (int rank = 0; rank < std::min(d.ranks, most_listed); ++rank) {
        const RowRange slab = d.slab(rank);
        text += "  rank " + std::to_string(rank) + ": rows " + std::to_string(slab.first) + " to " +
                std::to_string(slab.last) + ", " + counted(count_chunks(d, slab), "chunk") + "\n";
    }
    if (d.ranks > most_listed) {
        text += "  … and " + counted(d.ranks - most_listed, "rank") + " more\n";
    }
    return text;
}

template <class SomePlan> std::string memory_text(const SomePlan& plan) {
    const auto of = [](std::int64_t need, std::int64_t limit) {
        return size_text(need) + " of " + size_text(limit);
    };
    std::string text = "  a rank takes: host " + of(plan.need.host(), plan.host_memory) +
                       " (staging " + size_text(plan.need.staging) + ", border rows " +
                       size_text(plan.need.border) + ", storage " + size_text(plan.need.storage) +
                       ")";
    if (plan.backend == Backend::cuda) {
        text += ", device " + of(plan.need.device, plan.device_memory);
    }
    return text + "\n";
}

std::string bytes_text(std::int64_t in, std::int64_t out) {
    return "  in all: reads " + size_text(in) + ", writes " + size_text(out) + "\n";
}

/// Of what takes long enough to be felt.
std::string time_text(const Plan& plan) {
    constexpr double felt = 0.1;
    return plan.chunk_seconds < felt
               ? ""
               : "  computing a chunk takes about " + duration_text(plan.chunk_seconds) + "\n";
}

std::string text_of(const Plan& plan) {
    const Decomposition& d = plan.decomposition;
    return counted(d.frames, "frame of ", "frames of ") + counted(d.rows, "row") + ", halo " +
           std::to_string(d.halo) + "; " + means_text(plan) + slabs_text(d) + time_text(plan) +
           memory_text(plan) + bytes_text(plan.bytes_to_read(), plan.bytes_to_write());
}

std::string text_of(const EvolvePlan& plan) {
    const Decomposition& d = plan.decomposition;
    const Snapshots& snapshots = plan.shape.snapshots;
    return "generations " + std::to_string(snapshots.first) + " to " +
           std::to_string(snapshots.last()) + " of " + counted(d.rows, "row") + ", " +
           counted(snapshots.count(), "snapshot", "snapshots") +
           (d.ranks == 1
                ? ""
                : ", " + counted(d.halo, "generation", "generations") + " between halo exchanges") +
           "; " + means_text(plan) + slabs_text(d) + memory_text(plan) +
           bytes_text(d.rows * plan.shape.in_row_bytes,
                      snapshots.count() * d.rows * plan.shape.out_row_bytes);
}

std::string text_of(const PermutePlan& plan) {
    constexpr std::int64_t short_run = 64 * KiB;
    constexpr int most_listed = 16;
    const BoxGrid& grid = plan.grid;
    const Extents output = grid.output();
    const std::int64_t all = plan.total_rows() * output[2] * plan.shape.element_bytes;
    const std::int64_t row = output[2] * plan.shape.element_bytes;
    std::string text = counted(grid.boxes(), "box", "boxes") + " of " + std::to_string(grid.first) +
                       " x " + std::to_string(grid.second) + " x " + std::to_string(output[2]) +
                       "; " + (plan.backend == Backend::cuda ? "cuda" : "cpu") + ", " +
                       counted(plan.lanes, "lane, ", "lanes, ") +
                       counted(plan.io_threads, "I/O thread\n", "I/O threads\n");
    for (int rank = 0; rank < std::min(plan.ranks, most_listed); ++rank) {
        text += "  rank " + std::to_string(rank) + ": " +
                counted(std::ssize(plan.boxes(rank)), "box\n", "boxes\n");
    }
    text += memory_text(plan) +
            bytes_text(all - count_rows(plan.done) * row, all - count_rows(plan.done) * row);
    text += "  " + counted(all / grid.in_run_bytes(), "read of ", "reads of ") +
            size_text(grid.in_run_bytes()) + ", " +
            counted(all / grid.out_run_bytes(), "write of ", "writes of ") +
            size_text(grid.out_run_bytes()) + "\n";
    if (std::min(grid.in_run_bytes(), grid.out_run_bytes()) < short_run && grid.boxes() > 1) {
        text += "  these are short, and a disk is slow with them: raise run.host_memory" +
                std::string(plan.backend == Backend::cuda ? " and run.device_memory\n" : "\n");
    }
    return text;
}

} // namespace

std::string plan_text(const JobPlan& plan) {
    return std::visit([](const auto& some) { return text_of(some); }, plan);
}

} // namespace runner
