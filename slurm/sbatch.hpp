// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace runner::slurm {

/// Runs `sbatch` with these arguments, without a shell, and returns the job's number, as it prints
/// it with --parsable. @throws Error (launch) where there is no sbatch, or with what it says where
/// it fails.
std::string run_sbatch(const std::vector<std::string>& arguments);

} // namespace runner::slurm
