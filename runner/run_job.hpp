// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/output/output_claim.hpp"
#include "runner/prepare/passes.hpp"
#include "runner/ranks/mpi.hpp"
#include "runner/run_command.hpp"

#include <chrono>

namespace runner {

/// Runs a job on all ranks: `runner JOB.toml`. Collective. Returns `ok`, or `stopped` when it can
/// be resumed. Progress and what is said go to standard error. The job file is read once, by the
/// first rank. Throws as Run. `start`: when the program started.
ExitCode run_job(const RunCommand& command, const Ranks& ranks,
                 std::chrono::steady_clock::time_point start);

/// A Run from its first step to its last. `claim`: as of Run::take(); null: the run makes its own.
ExitCode run_pass(const RunCommand& command, const JobPass& pass, const RunPlace& place,
                  output::Claim* claim = nullptr);

/// run_job() on all ranks that the launcher started; returns the exit code.
ExitCode run_on_all_ranks(const RunCommand& command, std::chrono::steady_clock::time_point start);

} // namespace runner
