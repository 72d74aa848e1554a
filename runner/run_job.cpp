// SPDX-License-Identifier: BSD-3-Clause
#include "runner/run_job.hpp"

#include "kernels/queue/devices.hpp"
#include "kernels/queue/shown_device.hpp"
#include "runner/job_file/file_names.hpp"
#include "runner/job_file/job_text.hpp"
#include "runner/launch.hpp"
#include "runner/ranks/prepare_on_all.hpp"
#include "runner/run.hpp"
#include "runner/run_passes.hpp"

#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace runner {
namespace {

using Clock = std::chrono::steady_clock;

/// The job, which the first rank reads and the others get. Collective.
JobFile load_on_all(const RunCommand& command, const Ranks& ranks) {
    std::string text;
    if (command.text) {
        text = *command.text;
    } else {
        ranks.first_alone([&] { text = read_job_text(command.job); });
        text = ranks.broadcast(text);
    }
    return ranks.together([&] {
        JobFile job = parse_job_text(text, command.job, settings_of(command));
        ranks.standing().stall_seconds = job.run.stall_seconds;
        if (ranks.first()) {
            require_one_dataset(job);
            check_file_names(job, command.reports, command.trace);
        }
        return job;
    });
}

} // namespace

ExitCode run_pass(const RunCommand& command, const JobPass& pass, const RunPlace& place,
                  output::Claim* claim) {
    Run run(command, pass, place);
    run.take(claim);
    run.prepare();
    if (place.ranks.first()) {
        for (const std::string& note : run.prepared().input.notes) {
            warn(command, note);
        }
    }
    run.bind();
    return run.claim() ? run.make() : ExitCode::ok;
}

ExitCode run_job(const RunCommand& command, const Ranks& ranks, Clock::time_point start) {
    PassLog log{Phases(start, "starting MPI")};
    log.phases.begin("reading the job file");
    Prober prober;
    std::jthread device; // ends last: others may wait for it within CUDA
    const JobFile job = load_on_all(command, ranks);
    if (job.run.backend != BackendChoice::cpu) {
        if (!Ranks::started_by_launcher()) { // whose rank has started the driver, beside MPI
            show_one_device_only(0);
        }
        // Beside the first look at the input, since each takes a good part of a second. Whoever
        // needs the device waits within CUDA until it is there. Ranks take GPUs in turn.
        device = std::jthread([nth = ranks.local_rank()] { start_device(nth); });
    }
    const RunPlace place{ranks, prober, start, log};
    std::vector<JobPass> passes = passes_on_all(job, ranks, prober);
    if (passes.empty()) {
        return run_pass(command, {job}, place);
    }
    const RunClaimed run = [&](const RunCommand& of_pass, const JobPass& pass,
                               output::Claim* claim) {
        return run_pass(of_pass, pass, place, claim);
    };
    return run_passes(command, std::move(passes), run, ranks, prober);
}

ExitCode run_on_all_ranks(const RunCommand& command, Clock::time_point start) {
    return on_all_ranks(
        command.backend.value_or(BackendChoice::automatic),
        [&](const Ranks& ranks) { return run_job(command, ranks, start); },
        [&](const std::string& text) { return in_words_of(command, text); });
}

} // namespace runner
