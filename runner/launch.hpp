// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/ranks/mpi.hpp"

#include <functional>

namespace runner {

/// A part of the program that runs on all ranks: joins the launcher's job, does it there, reports
/// a failure once, ends all ranks and returns the exit code.
ExitCode on_all_ranks(BackendChoice backend, const std::function<ExitCode(const Ranks&)>& part);

/// Whether this is the first of the processes a launcher started, known before MPI is: what every
/// process finds wrong alike is reported by this one alone.
bool is_first_process();

} // namespace runner
