// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace runner {

/// One step down, because a plan's memory could not be taken.
struct Halving {
    std::string reason;          ///< what could not be taken, how much, why
    std::int64_t chunk_rows = 0; ///< of the plan that was tried next
    int lanes = 0;

    static auto members(auto& self) { return std::tie(self.reason, self.chunk_rows, self.lanes); }
};

/// Records the step from a plan whose memory could not be taken to one with these chunks.
void add_halving(const OutOfMemory& failure, std::int64_t chunk_rows, int lanes,
                 std::vector<Halving>& halvings);

/// "rank 1: cannot take …; continues with chunks of 64 rows in 4 lanes\n". There is at least one.
std::string halving_text(int rank, const std::vector<Halving>& halvings);

/// Gives `say` that text, unless it is empty or there was no halving.
void report_halvings(int rank, const std::vector<Halving>& halvings,
                     const std::function<void(const std::string& line)>& say);

/// `take(plan)` for the first of plan, smaller(plan), … whose memory can be taken. `take` releases
/// all when it throws; `smaller` returns nothing below the smallest plan.
/// @throws OutOfMemory of the smallest plan.
template <class SomePlan, class Smaller, class Take>
auto take_fitting(SomePlan plan, std::vector<Halving>& halvings, const Smaller& smaller,
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
        std::optional<SomePlan> next = smaller(plan);
        if (!next) {
            throw *failure;
        }
        add_halving(*failure, next->chunk_rows(), next->lanes, halvings);
        plan = std::move(*next);
    }
}

} // namespace runner
