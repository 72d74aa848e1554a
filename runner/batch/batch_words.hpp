// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/batch/batch_plan.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// The first rank's list, as list_batch() makes it, for the others; the names each finds by itself,
/// so that a batch of many is no large message.
std::string list_words(const BatchPlan& plan);

/// The plan, of such words. `job`, `settings`: as list_batch() takes them. @throws Error (launch)
/// where this rank sees other datasets than the first; as list_datasets().
BatchPlan plan_of_words(const std::string& words, JobFile job, std::vector<std::string> settings);

/// What look_at_datasets() found out about these datasets, for the other ranks.
std::string look_words(const BatchPlan& plan, std::span<const std::size_t> places);

/// Puts what such words tell in its place.
void take_looks(BatchPlan& plan, const std::string& words);

} // namespace runner
