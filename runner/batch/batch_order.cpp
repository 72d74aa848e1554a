// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch/batch_order.hpp"

#include "base/sizes.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace runner::batch {
namespace {

bool is_to_run(const PlannedDataset& planned) {
    return planned.fate == Fate::to_do || planned.fate == Fate::redo;
}

/// More bytes than this are worth the word that all ranks need about a dataset.
std::int64_t most_alone(const Plan& plan, int ranks) {
    constexpr std::int64_t least_shared_bytes = 16 * MiB;
    constexpr std::int64_t parts = 8; // of a rank's fair share
    std::int64_t total = 0;
    for (const PlannedDataset& planned : plan.datasets) {
        total += is_to_run(planned) ? planned.listed.bytes : 0;
    }
    return std::max(least_shared_bytes, total / (parts * ranks));
}

} // namespace

Order batch_order(const Plan& plan, int ranks) {
    const std::int64_t most = most_alone(plan, ranks);
    Order order;
    for (std::size_t i = 0; i < plan.datasets.size(); ++i) {
        const PlannedDataset& planned = plan.datasets[i];
        const bool is_large = planned.listed.bytes > most && !planned.ended_badly;
        if (is_to_run(planned)) {
            (ranks > 1 && (planned.needs_all_ranks || is_large) ? order.together
                                                                : order.side_by_side)
                .push_back(i);
        }
    }
    const auto rank_of = [&](std::size_t i) {
        const PlannedDataset& planned = plan.datasets[i];
        return std::pair(planned.ended_badly, ranks > 1 ? -planned.listed.bytes : 0);
    };
    for (std::vector<std::size_t>* const part : {&order.together, &order.side_by_side}) {
        std::stable_sort(part->begin(), part->end(),
                         [&](std::size_t a, std::size_t b) { return rank_of(a) < rank_of(b); });
    }
    return order;
}

} // namespace runner::batch
