// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/job_file/job_file.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/ranks/mpi.hpp"
#include "runner/ranks/prepare_on_all.hpp"
#include "runner/report/report.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// `runner JOB.toml`, `runner run JOB.toml`.
struct RunCommand {
    std::string job;
    std::vector<std::string> settings;    ///< table.key=value, in the order given
    std::optional<int> ranks;             ///< to start on this host; 0: one per GPU
    std::optional<BackendChoice> backend; ///< over the job file's
    std::optional<ResumeChoice> resume;   ///< over the job file's
    bool quiet = false;                   ///< no progress; errors and warnings only
    std::vector<std::string> reports;     ///< files to write, each ending in .json or .html
    std::optional<std::string> trace;     ///< file to write
    std::optional<double> max_seconds;    ///< of wall time, after which the run has stopped

    // Of a pass of several, from 1; reports and trace are written with the last.
    std::size_t pass = 1;
    std::size_t passes = 1;
};

/// What the passes of a run leave for its report and trace, on each rank.
struct PassLog {
    std::vector<PassReport> reports;     ///< of passes that are complete; on the first rank
    std::vector<KernelUse> kernels;      ///< of this rank in them all
    std::string events;                  ///< Trace::chrome_events() of them all
    std::optional<double> start_seconds; ///< from the program's start to the first pass's first row
    double seconds = 0;                  ///< from the program's start to the last one's end
};

/// Runs a job on all ranks: `runner JOB.toml`. Collective. Returns `ok`, or `stopped` when it can
/// be resumed. Progress and what is said go to standard error. A failure before the stream starts
/// is thrown as AgreedError on every rank; one within it, on the rank it happened. `start`: when
/// the program started, for the wall time that is reported.
ExitCode run_job(const RunCommand& command, const Ranks& ranks,
                 std::chrono::steady_clock::time_point start);

/// One pass of a job, or a job of one: the same with the job that `load` gives on every rank, whose
/// file names are checked. Collective.
ExitCode run_pass(const RunCommand& command, const LoadJob& load, const Ranks& ranks,
                  Prober& prober, std::chrono::steady_clock::time_point start, PassLog& log);

/// The part of it from the output's lock on, of a rank that is bound: `prepared` is of `load`.
ExitCode run_bound(const RunCommand& command, const LoadJob& load, PreparedJob prepared,
                   const RankBinding& binding, const Ranks& ranks, Prober& prober,
                   std::chrono::steady_clock::time_point start, PassLog& log);

/// The part of it from the claim of the output on: `prepared` fits and its input is there, its
/// output's folder too, and the first rank holds the output's lock. Where it returns `ok` the
/// output has its name and release_output() is left to do. A survey of the input that the job asks
/// for is taken, and `prepared` knows of it then. Collective.
ExitCode run_claimed(const RunCommand& command, PreparedJob& prepared, const RankBinding& binding,
                     const Ranks& ranks, Prober& prober,
                     std::chrono::steady_clock::time_point start, PassLog& log);

/// The command line's choices, laid over the job file like any other setting.
std::vector<std::string> settings_of(const RunCommand& command);

/// Who holds a lock, for those who want it: "process 7 on node3, Slurm job 12".
std::string owner_text(const std::string& host);

/// run_job() on all ranks that the launcher started; returns the exit code.
ExitCode run_on_all_ranks(const RunCommand& command, std::chrono::steady_clock::time_point start);

} // namespace runner
