// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "runner/job_file/job_file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace runner::slurm {

/// `runner submit JOB.toml`.
struct SubmitCommand {
    std::string job;
    std::vector<std::string> settings;
    std::optional<BackendChoice> backend; ///< over the job file's
    std::string site;                     ///< the site file
    std::optional<int> nodes;             ///< nothing: the fewest that do
    std::optional<int> array;             ///< tasks that share a batch
    std::optional<int> throttle;          ///< of these, the most at once
    std::optional<double> seconds;        ///< for Slurm's time limit
    std::optional<std::string> profile;   ///< to estimate that from
    std::optional<std::string>
        report;           ///< a report to write: of a job .json or .html, of a batch .html
    bool dry_run = false; ///< only print what would be submitted
};

/// What `runner submit` has to say.
struct SubmitReport {
    std::string text;               ///< of the jobs' numbers, or of the scripts in a dry run
    std::vector<std::string> notes; ///< of the input, and of what may turn out otherwise
    ExitCode code = ExitCode::ok;
};

/// `runner submit`: plans the job as `plan` does, or the batch as `batch --dry-run` does, for the
/// site's nodes; writes the script into the folder of logs and hands it to sbatch. In a dry run
/// nothing is written. A batch of which nothing is to do is not submitted. Goes to the site's
/// scratch folder.
/// @throws Error (usage) for what does not fit the site; as plan and batch; (launch) of sbatch.
SubmitReport submit(const SubmitCommand& command);

} // namespace runner::slurm
