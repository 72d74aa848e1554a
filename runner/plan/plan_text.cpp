// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/plan_text.hpp"

#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace runner {

std::string rows_text(std::int64_t rows, std::int64_t pixels) {
    return rows % pixels == 0 ? counted(rows / pixels, "row") : counted(rows, "pixel");
}

std::string means_text(const JobPlan& plan, ChunkText chunks, std::int64_t pixels) {
    return std::string(name_of(plan.backend)) + ", " +
           (chunks == ChunkText::yes ? "chunks of " + rows_text(plan.chunk_rows(), pixels) + ", "
                                     : "") +
           counted(plan.lanes, "lane") + ", " +
           counted(plan.io_threads, "I/O thread\n", "I/O threads\n");
}

std::string slabs_text(const Decomposition& d, std::int64_t pixels) {
    std::string text;
    for (int rank = 0; rank < std::min(d.ranks, most_listed_ranks); ++rank) {
        const RowRange slab = d.slab(rank);
        const bool whole = slab.first % pixels == 0 && slab.last % pixels == 0;
        const std::int64_t unit = whole ? pixels : 1;
        text += fmt::format("  rank {}: {} {} to {}, {}\n", rank, whole ? "rows" : "pixels",
                            slab.first / unit, slab.last / unit,
                            counted(count_chunks(d, slab), "chunk"));
    }
    if (d.ranks > most_listed_ranks) {
        text += "  … and " + counted(d.ranks - most_listed_ranks, "rank") + " more\n";
    }
    return text;
}

std::string memory_text(const JobPlan& plan) {
    const auto of = [](std::int64_t need, std::int64_t limit) {
        return size_text(need) + " of " + size_text(limit);
    };
    std::string text =
        "  a rank takes: host " + of(plan.need.host(), plan.host_memory) + " (staging " +
        size_text(plan.need.staging) + ", border rows " + size_text(plan.need.border) +
        ", storage " + size_text(plan.need.storage) +
        (plan.need.images > 0 ? "; images " + size_text(plan.need.images) +
                                    ", computed before in " + size_text(plan.need.images_work)
                              : "") +
        ")";
    if (plan.backend == Backend::cuda) {
        text += ", device " + of(plan.need.device, plan.device_memory);
    }
    return text + "\n";
}

std::string bytes_text(const JobPlan& plan) {
    return "  in all: reads " + size_text(plan.bytes_to_read()) + ", writes " +
           size_text(plan.bytes_to_write()) + "\n";
}

} // namespace runner
