// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "runner/plan/passes.hpp"
#include "runner/probe/prober.hpp"
#include "runner/ranks/mpi.hpp"
#include "runner/ranks/prepare_on_all.hpp"
#include "runner/run.hpp"

#include <functional>
#include <vector>

namespace runner {

/// Runs one pass: run_pass().
using RunPass = std::function<ExitCode(const RunCommand& command, const LoadJob& load)>;

/// Runs a job of several passes, each a job of its own that reads what the one before made. That
/// lies beside the output, with a journal of its own, and is removed when the next pass is
/// complete. Begins with the first pass whose output is not complete. Collective; returns and
/// throws as run_job().
ExitCode run_passes(const RunCommand& command, std::vector<JobPass> passes, const RunPass& run,
                    const Ranks& ranks, Prober& prober);

} // namespace runner
