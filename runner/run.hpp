// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/command_line.hpp"
#include "runner/mpi.hpp"

#include <chrono>

namespace runner {

/// Runs a job on all ranks: `runner JOB.toml`. Collective. Progress and what is said go to standard
/// error. A failure before the stream starts is thrown alike on every rank; one within it, on the
/// rank it happened. `start`: when the program started, for the wall time that is reported.
void run_job(const RunCommand& command, const Ranks& ranks,
             std::chrono::steady_clock::time_point start);

} // namespace runner
