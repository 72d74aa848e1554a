// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/command_line.hpp"
#include "runner/mpi.hpp"

#include <chrono>

namespace runner {

/// Runs a job on all ranks: `runner JOB.toml`. Collective. Returns `ok`, or `stopped` when it can
/// be resumed. Progress and what is said go to standard error. A failure before the stream starts
/// is thrown as AgreedError on every rank; one within it, on the rank it happened. `start`: when
/// the program started, for the wall time that is reported.
ExitCode run_job(const RunCommand& command, const Ranks& ranks,
                 std::chrono::steady_clock::time_point start);

/// Joins the launcher's job, runs it there, tells a failure once, ends all ranks and returns the
/// exit code.
ExitCode run_on_all_ranks(const RunCommand& command, std::chrono::steady_clock::time_point start);

/// Whether this is the first of the processes a launcher started, known before MPI is: what every
/// process finds wrong alike is told by this one alone.
bool is_first_process();

/// One message on standard error: "runner: error: TEXT".
void tell_error(const std::string& text);

/// The same for a warning: `runner: warning: …`.
void tell_warning(const std::string& text);

} // namespace runner
