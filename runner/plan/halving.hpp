// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "runner/plan/plan.hpp"

#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// One step down, because a plan's memory could not be taken.
struct Halving {
    std::string reason;          ///< what could not be taken, how much, why
    std::int64_t chunk_rows = 0; ///< of the plan that was tried next
    int lanes = 0;
};

/// The next smaller plan: half the chunk rows, rounded down to the output's alignment; at one
/// alignment step a lane less; nothing below that. Slabs and border rows stay as they are, so one
/// rank may do it alone.
std::optional<Plan> halved(const StreamJob& job, const Plan& plan);

/// Takes a step down to `halved(plan)` and notes it. @throws OutOfMemory, `failure`, where there is
/// none.
Plan step_down(const StreamJob& job, const Plan& plan, const OutOfMemory& failure,
               std::vector<Halving>& halvings);

/// "rank 1: cannot take …; continues with chunks of 64 rows in 4 lanes\n". There is at least one.
std::string halving_text(int rank, const std::vector<Halving>& halvings);

/// `take(plan)` for the first of plan, halved(plan), … whose memory can be taken. `take` gives all
/// back when it throws. @throws OutOfMemory of the smallest plan.
template <class Take>
auto take_fitting(const StreamJob& job, Plan plan, std::vector<Halving>& halvings,
                  const Take& take) {
    for (;;) {
        std::optional<OutOfMemory> failure;
        try {
            return take(plan);
        } catch (const OutOfMemory& error) {
            failure = error;
        } catch (const std::bad_alloc&) {
            failure = out_of_host_memory();
        }
        plan = step_down(job, plan, *failure, halvings);
    }
}

} // namespace runner
