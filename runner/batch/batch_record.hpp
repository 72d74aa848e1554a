// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "runner/batch/batch_events.hpp"
#include "runner/batch/batch_plan.hpp"

#include <string>

namespace runner::batch {

/// What one process of a batch records in the state folder.
class Record {
  public:
    /// `folder`: of the state, made when something is recorded; `host`: of this process.
    Record(std::string folder, const std::string& host);

    /// Makes the list that of the plan, and records which datasets it found done and which cannot
    /// be run. The functions of this class throw Error (output).
    void plan(const Plan& plan);

    void started(const PlannedDataset& planned);
    void stopped(const PlannedDataset& planned);
    void failed(const PlannedDataset& planned, ExitCode code, const std::string& reason);

    /// `identity`: checksum of job_identity(); `input` and `files`, which are what else it was
    /// made of: before they were read.
    void done(const PlannedDataset& planned, const std::string& identity, const FileMark& input,
              const FileMarks& files, double seconds);

  private:
    void plain(const PlannedDataset& planned, DatasetEvent::What what);

    std::string folder_;
    Log log_;
};

} // namespace runner::batch
