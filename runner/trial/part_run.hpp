// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "kernels/queue/queue.hpp"
#include "runner/trial/prediction.hpp"
#include "runner/trial/work_folder.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace runner::trial {

/// What the report of a run on a part says.
struct PartReport {
    MeasuredRun run; ///< without its work
    Backend backend = Backend::cpu;
    std::string device;            ///< the GPU's name, or "CPU"
    std::int64_t device_limit = 0; ///< bytes that it was allowed there
};

/// A run did not end with `ok`. Its own messages have been printed.
class PartFailed : public std::runtime_error {
  public:
    explicit PartFailed(ExitCode code) : runtime_error("a run on a part failed"), code_(code) {}
    ExitCode code() const { return code_; }

  private:
    ExitCode code_;
};

/// Runs a job file as `runner JOB.toml` does, each time in a process of its own.
class PartRunner {
  public:
    PartRunner(std::string job, const WorkFolder& folder) : job_(std::move(job)), folder_(folder) {}

    /// Runs it with these settings. A message that several runs have is printed once. A signal that
    /// ends this process ends the run, and PartFailed has the code for it.
    /// @throws PartFailed; Error (launch) if no process can be started.
    PartReport run(const std::vector<std::string>& settings);

  private:
    std::string job_;
    const WorkFolder& folder_;
    std::set<std::string> printed_; ///< lines
};

} // namespace runner::trial
