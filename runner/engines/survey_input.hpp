// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/plan/row_set.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/ranks/binding.hpp"
#include "runner/ranks/mpi.hpp"
#include "runner/watch/progress.hpp"
#include "runner/watch/stages.hpp"
#include "runner/watch/stop.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>

namespace runner {

/// The first pass of a survey over this rank's share of the input. A thread of its own takes it
/// while the run finds its device and begins its output. It communicates with no rank.
class SurveyAhead {
  public:
    /// Begins. `cores`: of this rank; the thread keeps to them. `prepared`: its job has a survey.
    /// `progress` outlives this. @throws std::system_error where there can be no such thread.
    SurveyAhead(std::shared_ptr<const PreparedJob> prepared, const Ranks& ranks, CpuList cores,
                RunProgress& progress);
    SurveyAhead(const SurveyAhead&) = delete;
    SurveyAhead& operator=(const SurveyAhead&) = delete;
    /// Ends the pass with the part that is being read.
    ~SurveyAhead();

    /// Waits for the end of the pass. False where something asked to stop before. Once.
    /// @throws what the pass has thrown, as Error (input) for values that the job does not take.
    bool finish(const Stop& stop);

    /// What has seen the share, after finish().
    Survey& survey() const { return *survey_; }
    /// What the pass took before finish() was called, after it.
    double seconds_ahead() const { return seconds_ahead_; }

  private:
    bool take_pass();

    std::shared_ptr<const PreparedJob> prepared_;
    std::unique_ptr<Survey> survey_;
    RowRange share_;
    CpuList cores_;
    RunProgress& progress_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point end_;
    double seconds_ahead_ = 0;
    std::atomic<bool> over_{false};
    std::future<bool> pass_; ///< last: it uses the others
};

/// How a survey is taken: `threads` compute, `io_threads` read.
struct SurveyPlace {
    int threads;
    int io_threads;
    const Stop& stop;
    RunProgress& progress; ///< moves with each part of the input that is seen, for a watchdog
    ProgressStyle style;   ///< in which this rank shows it on standard error
    SurveyAhead* ahead = nullptr; ///< of the same job, where this rank has begun
};

/// The phase of a command in which inputs are surveyed, as reports name it.
inline constexpr const char* survey_phase = "surveying the input";

/// Where the job asks for a survey of its input: takes it, each rank a share, and returns the
/// prepared job that knows what was found; else the same job. Nothing where something asked to stop
/// before all was seen. Collective. @throws AgreedError (input) for values that the job does not
/// take.
std::optional<PreparedJob> survey_input(const PreparedJob& prepared, const Ranks& ranks,
                                        const SurveyPlace& place);

/// The same without other ranks, to the end. @throws Error (input).
PreparedJob survey_input(const PreparedJob& prepared, int threads);

} // namespace runner
