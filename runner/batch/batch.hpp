// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "runner/run_command.hpp"

#include <chrono>

namespace runner::batch {

/// `runner batch JOB.toml`.
struct Command {
    RunCommand run;       ///< without reports and trace
    bool dry_run = false; ///< only the plan
};

/// `runner batch JOB.toml`: the first rank inspects every dataset, then large ones are run on all
/// ranks together and the others side by side, one a rank, each by the rank that first locks its
/// output. A dataset's failure is reported and the others continue. Returns `ok` when all are done
/// or in the hands of another batch, `stopped`, or the code of the first dataset in the list that
/// failed.
ExitCode run_on_all_ranks(const Command& command, std::chrono::steady_clock::time_point start);

} // namespace runner::batch
