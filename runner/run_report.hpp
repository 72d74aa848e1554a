// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/output/begin_output.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/ranks/mpi.hpp"
#include "runner/report/report.hpp"
#include "runner/run_command.hpp"
#include "runner/watch/trace.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// Size and time of a file, for the record; nothing where it is not there.
struct FileFacts {
    std::int64_t bytes = 0;
    std::string modified; ///< ISO 8601, UTC
};
FileFacts file_facts(const std::string& path);

/// The last word of a run that found its output complete. A report would be of nothing.
void tell_complete(const RunCommand& command, const std::string& output);

/// Refuses a report or trace that could not be written, before the run. @throws Error (output).
void check_side_files(const RunCommand& command);

/// What is known of a rank before it runs its part of the plan.
RankReport rank_report(const RankBinding& binding, const JobPlan& plan, const Ranks& ranks);

/// What is known when all rows are made; the times are left to fill in. The arguments outlive it.
RunReport run_report(const PreparedJob& prepared, const std::vector<std::string>& settings,
                     const JobPlan& plan, const output::Beginning& beginning,
                     std::vector<RankReport> ranks);

/// Writes each file, as JSON or as a page by its ending. @throws Error (output).
void write_reports(const std::vector<std::string>& files, const RunReport& report,
                   const PreparedJob& prepared, int threads);

/// Adds this rank's events of a pass to the log, in a process of their own. `offset`: seconds from
/// the first pass's first row.
void add_events(const RunCommand& command, const RankBinding& binding, const Ranks& ranks,
                const Trace& trace, double offset, PassLog& log);

/// Prints the last line, and with the last pass writes reports and trace. Collective.
void write_all(const RunCommand& command, const RunReport& report, const PreparedJob& prepared,
               const RankBinding& binding, const Ranks& ranks, const PassLog& log);

} // namespace runner
