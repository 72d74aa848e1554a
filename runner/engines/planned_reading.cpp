// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/planned_reading.hpp"

#include "runner/engines/engine.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace runner {

ReadingCost cost_of(const PreparedJob& prepared, const JobPlan& plan) {
    if (prepared.input_is_missing || prepared.place.origin) { // as runner will make it
        const std::int64_t bytes = plan.bytes_to_read();
        return {"in place, by several threads", bytes, bytes, bytes};
    }
    std::vector<std::vector<RowRuns>> reads;
    reads.reserve(static_cast<std::size_t>(plan.rank_count()));
    for (int rank = 0; rank < plan.rank_count(); ++rank) {
        reads.push_back(rows_read(*prepared.job, plan, rank, prepared.input.array));
    }
    return reading_cost(prepared.layout, prepared.part, reads);
}

} // namespace runner
