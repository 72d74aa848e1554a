// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/attendant.hpp"
#include "runner/engines/engine.hpp"
#include "runner/engines/survey_input.hpp"
#include "runner/output/output_claim.hpp"
#include "runner/output/taken_rows.hpp"
#include "runner/prepare/passes.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/run_command.hpp"
#include "runner/watch/stop.hpp"
#include "runner/watch/trace.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace runner {

/// One run of a job of one pass, or of one pass of a job, on each rank. Its steps are called in the
/// order in which they stand here, and each is collective. A failure before the stream begins is
/// thrown as AgreedError on every rank; one within it, on the rank where it happened.
class Run {
  public:
    /// `pass`: the same job on every rank, with file names that are checked. `command` outlives
    /// this.
    Run(const RunCommand& command, JobPass pass, const RunPlace& place);
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run() = default;

    /// Has the input's structure read.
    void prepare();
    const PreparedJob& prepared() const { return *prepared_; }

    /// Finds this rank's device, or takes the one that a batch has found, which outlives this. A
    /// survey of the input begins beside the first.
    void bind();
    void bind(const RankBinding& binding) { binding_ = &binding; }

    /// Plans the job, takes the output, and makes the input where it is missing. False where the
    /// output of this job is complete, which is then said.
    bool claim();
    /// The output is to be made by `claim`, which outlives this; null but on the first rank. Before
    /// claim(), which asks it what is to do, or in place of it: the output is to be made.
    void take(output::Claim* claim) { claim_ = claim; }

    /// Makes all rows of the output that are missing, after a survey of the input where the job
    /// asks for one. False where something has asked to stop, which is then said.
    bool stream();

    /// Puts the output together, gives it its name, writes reports and trace, and leaves nothing
    /// else beside the output.
    void complete();

    /// stream() and, unless that is stopped, complete(). `stopped`: the run can be resumed.
    ExitCode make();

  private:
    void begin_step(const char* doing) const;
    void begin_survey();
    void end_if_asked() const;
    void share_images(const JobPlan& plan) const;
    output::ToDo settle();
    void begin();
    void make_rows(const RunContext& context);
    bool survey();
    void tell_findings(std::size_t known) const;
    bool finish_taken(output::TakenRows& taken, const RunContext& context) const;
    void put_together(RunReport& report);
    bool speaks() const { return place_.ranks.first() && !command_.quiet; }

    const RunCommand& command_;
    JobPass pass_;
    RunPlace place_;
    std::shared_ptr<const PreparedJob> prepared_;
    std::optional<RankBinding> own_binding_;
    const RankBinding* binding_ = nullptr;
    std::optional<output::Claim> own_claim_; ///< on the first rank
    output::Claim* claim_ = nullptr;
    std::vector<std::string> warnings_; ///< beside those of the input, on the first rank
    output::Beginning beginning_;
    PlanPtr plan_;
    OpenRun open_;
    std::optional<SurveyAhead> ahead_; ///< until the survey is complete; after what it uses
    std::optional<Stop> stop_;
    std::optional<Attendant> attendant_; ///< after what it looks at
    Trace trace_;
    RankReport mine_; ///< this rank's share of the report
    std::optional<Stopped> stopped_;
    std::string started_;      ///< ISO 8601, UTC
    double start_seconds_ = 0; ///< from the program's start to the first row
    std::chrono::steady_clock::time_point last_row_;
};

} // namespace runner
