// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/batch_plan.hpp"

#include <string>
#include <vector>

namespace runner {

/// What the first rank has found out about the datasets, for the others; the list of names each
/// makes by itself, so that a batch of many is no large message.
std::string plan_words(const BatchPlan& plan);

/// The plan, of such words; without reasons and identities. `job`, `settings`: as plan_batch takes
/// them. @throws Error (launch) where this rank sees other datasets than the first; as
/// list_datasets().
BatchPlan plan_of_words(const std::string& words, JobFile job, std::vector<std::string> settings);

} // namespace runner
