// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "runner/trial/prediction.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace runner {

/// A new folder with a name that nothing has, removed with all that is in it at the end.
class WorkFolder {
  public:
    /// Beside the file `output`. @throws Error (output).
    explicit WorkFolder(const std::string& output);
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    ~WorkFolder();

    /// Removes all that is in it.
    void clear() const;

    std::string file(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

/// What a run on a part says of itself.
struct PartReport {
    MeasuredRun run; ///< without its work
    bool on_gpu = false;
    std::string device;            ///< the GPU's name, or "CPU"
    std::int64_t device_limit = 0; ///< bytes that it might take there
};

/// A run that did not end with `ok`: its own messages are printed.
class PartFailed : public std::runtime_error {
  public:
    explicit PartFailed(ExitCode code) : runtime_error("a run on a part failed"), code_(code) {}
    ExitCode code() const { return code_; }

  private:
    ExitCode code_;
};

/// Runs jobs of one job file as `runner JOB.toml` does, each in a process of its own.
class PartRunner {
  public:
    PartRunner(std::string job, const WorkFolder& folder) : job_(std::move(job)), folder_(folder) {}

    /// With these settings. Warnings are printed once, whatever the number of runs that have them.
    /// A signal that ends this process ends the run, and PartFailed has the code for it.
    /// @throws PartFailed; Error (launch) where no process can be had.
    PartReport run(const std::vector<std::string>& settings);

  private:
    std::string job_;
    const WorkFolder& folder_;
    std::set<std::string> told_;
};

} // namespace runner
