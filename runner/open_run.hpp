// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "runner/engines/border_rows.hpp"
#include "runner/engines/stream_engine.hpp"
#include "runner/plan/job_plan.hpp"
#include "runner/plan/prepare.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/ranks/mpi.hpp"
#include "runner/recovery/claim.hpp"
#include "runner/recovery/commits.hpp"
#include "runner/report/report.hpp"
#include "runner/run.hpp"
#include "runner/watch/stop.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// The middle of a run on one rank: what is open while the engine runs. `progress` may be read
/// from another thread at any time, `commits` while progress.under_way.
struct OpenRun {
    std::unique_ptr<RowReader> reader;
    std::unique_ptr<RowWriter> writer;
    std::unique_ptr<Commits> commits;
    std::unique_ptr<BorderRows> border; ///< of a stream
    RunProgress progress;
};

/// Opens input, output and journal; a stream trades its border rows. Collective.
void open_run(const PreparedJob& prepared, const Plan& plan, const Beginning& beginning,
              const Ranks& ranks, OpenRun& open);
void open_run(const PreparedJob& prepared, const EvolvePlan& plan, const Beginning& beginning,
              const Ranks& ranks, OpenRun& open);
void open_run(const PreparedJob& prepared, const PermutePlan& plan, const Beginning& beginning,
              const Ranks& ranks, OpenRun& open);

/// Does the rank's part, with progress on standard error from the first rank. An error, which only
/// this rank knows of, names the rank, its host and its GPU; what was written before it is
/// committed.
RunTimes run_engine(const RunCommand& command, const PreparedJob& prepared, const Plan& plan,
                    const RankBinding& binding, const Ranks& ranks, const Beginning& beginning,
                    OpenRun& open, const Stop& stop, Trace* trace);
RunTimes run_engine(const RunCommand& command, const PreparedJob& prepared, const EvolvePlan& plan,
                    const RankBinding& binding, const Ranks& ranks, const Beginning& beginning,
                    OpenRun& open, const Stop& stop, Trace* trace);
RunTimes run_engine(const RunCommand& command, const PreparedJob& prepared, const PermutePlan& plan,
                    const RankBinding& binding, const Ranks& ranks, const Beginning& beginning,
                    OpenRun& open, const Stop& stop, Trace* trace);

/// The error with "; rank 1 on node7, GPU GPU-…" added to where it happened.
Error with_rank(const Error& error, const RankBinding& binding, const Ranks& ranks);

/// What asks this job to stop: STOP beside the output, and the ranks' own file.
std::vector<std::string> stop_files(const std::string& output);

/// How a run was stopped, as every rank knows it.
struct Stopped {
    std::string reason;
    std::string done; ///< "3 of 7 rows of "
};

/// After the engine: nothing when every rank has finished its part. Collective.
std::optional<Stopped> agree_on_stop(const Plan& plan, const OpenRun& open, const Stop& stop,
                                     const Ranks& ranks);
std::optional<Stopped> agree_on_stop(const EvolvePlan& plan, const OpenRun& open, const Stop& stop,
                                     const Ranks& ranks);
std::optional<Stopped> agree_on_stop(const PermutePlan& plan, const OpenRun& open, const Stop& stop,
                                     const Ranks& ranks);

} // namespace runner
