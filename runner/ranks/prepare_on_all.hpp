// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/prepare/passes.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/probe/prober.hpp"
#include "runner/ranks/mpi.hpp"

#include <vector>

namespace runner {

/// prepare_job() on every rank: the first has the input's structure read, by `prober`, and tells
/// the others what was found. `pass`: the same on each; its input is there. Collective.
/// @throws AgreedError.
PreparedJob prepare_on_all(const JobPass& pass, const Ranks& ranks, Prober& prober);

/// passes_of() on every rank, likewise; none where they are not several. Collective.
/// @throws AgreedError.
std::vector<JobPass> passes_on_all(const JobFile& job, const Ranks& ranks, Prober& prober);

} // namespace runner
