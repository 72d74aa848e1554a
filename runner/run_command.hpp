// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/job_file/job_file.hpp"
#include "runner/probe/prober.hpp"
#include "runner/ranks/mpi.hpp"
#include "runner/report/report.hpp"
#include "runner/watch/phases.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// `runner JOB.toml`, `runner run JOB.toml`.
struct RunCommand {
    std::string job;                      ///< the file; with `text` what messages call the job
    std::optional<std::string> text = {}; ///< of the job, where no file has it
    std::vector<std::string> settings;    ///< table.key=value, in the order given
    std::optional<int> ranks;             ///< to start on this host; 0: one per GPU
    std::optional<BackendChoice> backend; ///< over the job file's
    std::optional<ResumeChoice> resume;   ///< over the job file's
    bool quiet = false;                   ///< no progress; errors and warnings only
    std::vector<std::string> reports;     ///< files to write, each ending in .json or .html
    std::optional<std::string> trace;     ///< file to write
    std::optional<double> max_seconds;    ///< of wall time, after which the run has stopped

    // The place of a pass of several, from 1; reports and trace are written with the last.
    std::size_t pass = 1;
    std::size_t passes = 1;
};

/// What the passes of a run leave for its report and trace, on each rank.
struct PassLog {
    Phases phases;                          ///< of the command, on this rank
    std::vector<PassReport> reports = {};   ///< of passes that are complete; on the first rank
    std::vector<KernelUse> kernels = {};    ///< of this rank in them all
    std::vector<std::string> warnings = {}; ///< of passes that are complete, and
    std::vector<std::string> notes = {};    ///< RunReport's; on the first rank
    std::string events = {};                ///< Trace::chrome_events() of them all
    std::optional<double> start_seconds =
        {};                    ///< from the program's start to the first pass's first row
    double seconds = 0;        ///< from the program's start to the last one's end
    double survey_seconds = 0; ///< of the surveys of inputs, also beside other phases
};

/// What the runs of a process share; all of it outlives them.
struct RunPlace {
    const Ranks& ranks;
    Prober& prober;
    std::chrono::steady_clock::time_point start; ///< of the program, from which times count
    PassLog& log;
};

/// A message in the words of what the caller wrote: a job file, or a command line in place of one.
std::string in_words_of(const RunCommand& command, const std::string& message);

/// Tells a warning on standard error. Returns the words of it, which are in_words_of()'s.
std::string warn(const RunCommand& command, const std::string& warning);

/// The command line's choices, laid over the job file like any other setting.
std::vector<std::string> settings_of(const RunCommand& command);

} // namespace runner
