// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/ranks/mpi.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// A part of the program that runs on all ranks: joins the launcher's job, does it there, reports
/// a failure once, ends all ranks and returns the exit code. `words`: makes the message of a
/// failure from what it says; empty: as it is.
ExitCode on_all_ranks(BackendChoice backend, const std::function<ExitCode(const Ranks&)>& part,
                      const std::function<std::string(const std::string&)>& words = {});

/// Keeps hwloc, in this process and in those that it starts, from loading plug-ins that start the
/// GPU's driver. HWLOC_COMPONENTS stays as it is where the user has set it.
void keep_hwloc_off_drivers();

/// Replaces this process by mpirun, which starts `ranks` of them on this host with the same command
/// line; 0 stands for one rank per GPU. Returns where nothing is asked for, where one rank is
/// enough, and in the processes that a launcher started. @throws Error (launch) where a launcher
/// has started another number, or mpirun cannot be started.
void start_ranks(std::optional<int> ranks, const std::vector<std::string>& arguments);

/// What started the ranks: "runner", "mpirun" or "srun"; "none" for a single process.
std::string launcher_name();

/// Whether this is the first of the processes a launcher started, known before MPI is: what every
/// process finds wrong alike is reported by this one alone.
bool is_first_process();

} // namespace runner
