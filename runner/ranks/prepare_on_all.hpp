// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/plan/prepare.hpp"
#include "runner/probe/prober.hpp"
#include "runner/ranks/mpi.hpp"

#include <functional>

namespace runner {

/// prepare_job() on every rank: the first has the input's structure read, by `prober`, and tells
/// the others what was found. `load`: gives the job, on each. Collective. @throws AgreedError.
PreparedJob prepare_on_all(const std::function<JobFile()>& load, const Ranks& ranks,
                           Prober& prober);

} // namespace runner
