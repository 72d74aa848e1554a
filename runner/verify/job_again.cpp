// SPDX-License-Identifier: BSD-3-Clause
#include "runner/verify/job_again.hpp"

#include "base/error.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/run_passes.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace runner {
namespace {

/// The recorded job as it is run again beside the output. Nothing is saved: a step that is does not
/// end a pass then, and no saved file is touched.
JobFile job_beside(const FinishedOutput& output, const std::optional<std::string>& input) {
    JobFile job = output.job;
    job.input.file = input.value_or(job.input.file);
    job.input.generate.reset(); // made again it would be another file
    job.output.file = output.file;
    job.run.resume = ResumeChoice::automatic;
    job.run.backend = BackendChoice::automatic;
    std::vector<StepParameters> steps = job.pipeline->steps();
    for (StepParameters& step : steps) {
        step.save.clear();
    }
    job.pipeline = std::make_shared<PipelineParameters>(std::move(steps));
    job.parameters = job.pipeline;
    return job;
}

} // namespace

JobAgain::JobAgain(const FinishedOutput& output, const std::optional<std::string>& input,
                   EarlierPasses earlier, Prober& prober) {
    if (output.job.pipeline) {
        const JobFile job = job_beside(output, input);
        ProbedFiles files(prober, job.input.rules);
        passes_ = passes_of(job, files);
        if (passes_.size() > 1) {
            prepared_ = prepare_pass(passes_.back(), files);
            check_fits(output, prepared_);
        }
    }
    if (passes_.size() < 2) {
        passes_.clear();
        prepared_ = prepare_again(output, input, prober);
    } else {
        run_passes_before_last(output, earlier, prober);
    }
}

JobAgain::~JobAgain() {
    if (!passes_.empty()) {
        remove_intermediates(passes_);
    }
}

void JobAgain::run_passes_before_last(const FinishedOutput& output, EarlierPasses earlier,
                                      Prober& prober) {
    if (earlier == EarlierPasses::are_refused) {
        throw Error(ExitCode::input,
                    {"rows cannot be computed again in places", output.file,
                     "the job has " + std::to_string(passes_.size()) +
                         " passes, and what lay between them is removed",
                     "Give --recompute with a number of places: the passes before the last then "
                     "run again"});
    }
    const Ranks ranks{Ranks::Alone{}};
    const auto start = std::chrono::steady_clock::now();
    PassLog log;
    const RunPass run = [&](const RunCommand& command, const LoadJob& load) {
        return run_pass(command, load, ranks, prober, start, log);
    };
    RunCommand command;
    command.job = output.file;
    tell_origins(passes_, prober);
    const std::vector<bool> to_run = earlier_to_run(passes_, false, ranks, prober);
    const ExitCode code = run_earlier_passes(command, passes_, to_run, run, ranks, prober);
    if (code != ExitCode::ok) {
        throw Error(code, {"stopped before rows were computed again", output.file,
                           "a pass before the last was stopped", "The same command resumes it"});
    }
    ProbedFiles files(prober, passes_.back().file.input.rules);
    prepared_ = prepare_job(passes_.back().file, files);
}

} // namespace runner
