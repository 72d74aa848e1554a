// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/engines/survey_input.hpp"
#include "runner/prepare/passes.hpp"
#include "runner/probe/prober.hpp"
#include "runner/verify/finished_output.hpp"

#include <optional>
#include <string>
#include <vector>

namespace runner::verify {

/// The job of a finished output, ready to compute rows of it again.
///
/// In a job of several passes it is the last pass. The passes before it run again, since it reads
/// what they make. That lies beside the output, is resumed like any output, and is removed by the
/// destructor.
class JobAgain {
  public:
    enum class EarlierPasses { run, are_refused };

    /// `input`: in place of the recorded one. `prober` outlives this.
    /// @throws Error: (input) if the input cannot be read or does not make an output of this type
    /// and shape, or if earlier passes are needed and refused; (stopped) if a pass was stopped; as
    /// prepare_job() and run_job().
    JobAgain(const FinishedOutput& output, const std::optional<std::string>& input,
             EarlierPasses earlier, Prober& prober);
    JobAgain(const JobAgain&) = delete;
    JobAgain& operator=(const JobAgain&) = delete;
    ~JobAgain();

    const PreparedJob& prepared() const { return prepared_; }

    /// Takes the survey of the input that the job asks for, by so many threads.
    void survey(int threads) { prepared_ = survey_input(prepared_, threads); }

  private:
    void run_passes_before_last(const FinishedOutput& output, EarlierPasses earlier,
                                Prober& prober);

    Prober& prober_;
    std::vector<JobPass> passes_;
    PreparedJob prepared_;
};

/// Removes the files of passes that a JobAgain of the output left when it was killed. `input` as
/// JobAgain's; they stay where it cannot be read, since then nothing says whose they are.
void remove_left_passes(const FinishedOutput& output, const std::optional<std::string>& input,
                        Prober& prober);

} // namespace runner::verify
