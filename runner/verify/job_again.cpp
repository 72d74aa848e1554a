// SPDX-License-Identifier: BSD-3-Clause
#include "runner/verify/job_again.hpp"

#include "base/error.hpp"
#include "io/files/file_lock.hpp"
#include "io/files/file_mark.hpp"
#include "io/output/journal.hpp"
#include "io/output/own_parts.hpp"
#include "runner/job_file/file_names.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/run_job.hpp"
#include "runner/run_passes.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace runner::verify {
namespace {

/// The recorded job with its input, or with `input` in its place.
JobFile job_of_input(const FinishedOutput& output, const std::optional<std::string>& input) {
    JobFile job = output.job;
    job.input.file = input.value_or(job.input.file);
    job.input.generate.reset(); // generated again it would be another file
    return job;
}

/// The passes of the job, to run beside the output; empty if it has only one. No step saves its
/// output: saved files stay as they are, and a step that saves does not end a pass.
std::vector<JobPass> passes_beside(const FinishedOutput& output, JobFile job, FileAccess& files) {
    if (!job.pipeline) {
        return {};
    }
    job.output.file = output.file;
    job.run.resume = ResumeChoice::automatic;
    job.run.backend = BackendChoice::automatic;
    std::vector<StepParameters> steps = job.pipeline->steps();
    for (StepParameters& step : steps) {
        step.save.clear();
    }
    job.pipeline = std::make_shared<PipelineParameters>(std::move(steps));
    job.parameters = job.pipeline;
    std::vector<JobPass> passes = passes_of(job, files);
    return passes.size() > 1 ? std::move(passes) : std::vector<JobPass>{};
}

/// @throws Error (input) if the job makes an output of another type or shape.
void check_fits(const FinishedOutput& output, const PreparedJob& prepared) {
    const ArrayInfo made = prepared.output();
    if (made != output.stored.array) {
        throw Error(ExitCode::input,
                    {"the input does not fit the output", prepared.file.input.file,
                     "the job makes " + type_text(made) + " " + shape_text(made.shape) +
                         " of it, and the output is " + type_text(output.stored.array) + " " +
                         shape_text(output.stored.array.shape),
                     "Name the right one with --input"});
    }
}

} // namespace

JobAgain::JobAgain(const FinishedOutput& output, const std::optional<std::string>& input,
                   EarlierPasses earlier, Prober& prober)
    : prober_(prober) {
    const JobFile job = job_of_input(output, input);
    ProbedFiles files(prober, job.input.rules);
    passes_ = passes_beside(output, job, files);
    prepared_ = passes_.empty() ? prepare_job(job, files) : prepare_pass(passes_.back(), files);
    check_fits(output, prepared_);
    if (!passes_.empty()) {
        run_passes_before_last(output, earlier, prober);
    }
}

JobAgain::~JobAgain() {
    if (!passes_.empty()) {
        remove_intermediates(passes_, prober_);
    }
}

void remove_left_passes(const FinishedOutput& output, const std::optional<std::string>& input,
                        Prober& prober) {
    const JobFile job = job_of_input(output, input);
    const std::size_t steps = job.pipeline ? job.pipeline->steps().size() : 0;
    bool any = false;
    for (std::size_t i = 0; i < steps; ++i) {
        const std::string file = intermediate_file(output.file, i);
        for (const std::string& name :
             {file, partial_name(file), journal_folder(file), lock_path(file)}) {
            any = any || mark_of(name).bytes >= 0;
        }
    }
    if (!any) {
        return;
    }
    try {
        ProbedFiles files(prober, job.input.rules);
        std::vector<JobPass> passes = passes_beside(output, job, files);
        if (!passes.empty()) {
            tell_origins(passes, prober);
            remove_intermediates(passes, prober);
        }
    } catch (const Error& error) {
        if (error.code() != ExitCode::input) {
            throw;
        }
    }
}

void JobAgain::run_passes_before_last(const FinishedOutput& output, EarlierPasses earlier,
                                      Prober& prober) {
    if (earlier == EarlierPasses::are_refused) {
        throw Error(ExitCode::input,
                    {"rows cannot be computed again in places", output.file,
                     "the job has " + std::to_string(passes_.size()) +
                         " passes, and the files between them have been removed",
                     "Use --recompute N, which runs the passes before the last again"});
    }
    const Ranks ranks{Ranks::Alone{}};
    const auto start = std::chrono::steady_clock::now();
    PassLog log{Phases(start, "running the job")};
    const RunPlace place{ranks, prober, start, log};
    const RunPass run = [&](const RunCommand& command, const JobPass& pass) {
        return run_pass(command, pass, place);
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
    prepared_ = prepare_job(passes_.back().file, files, passes_.back().place);
}

} // namespace runner::verify
