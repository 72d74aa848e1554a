// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/rank_plan.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "runner/engines/engine.hpp"

#include <string>
#include <utility>

namespace runner {

PlanPtr plan_rank(const PreparedJob& prepared, const RankBinding& binding, const Ranks& ranks,
                  const BegunOutput& begun) {
    const bool alone = engine_of(*prepared.job).plans_by_own_memory() || ranks.size() == 1;
    return ranks.together([&] {
        try {
            return plan_job(prepared, binding.backend, ranks.size(),
                            alone ? binding.limits : binding.least_limits, begun);
        } catch (const Error& error) {
            if (!alone || ranks.local_size() == ranks.size()) {
                throw;
            }
            ErrorText text = error.text();
            text.where += fmt::format(" of rank {} on {}", ranks.rank(), binding.host);
            throw Error(error.code(), std::move(text));
        }
    });
}

} // namespace runner
