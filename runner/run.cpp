// SPDX-License-Identifier: BSD-3-Clause
#include "runner/run.hpp"

#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/sizes.hpp"
#include "io/files/file_lock.hpp"
#include "io/files/text_file.hpp"
#include "io/output/assemble_output.hpp"
#include "io/output/journal.hpp"
#include "jobs/generate.hpp"
#include "jobs/toml_text.hpp"
#include "kernels/queue/devices.hpp"
#include "runner/attendant.hpp"
#include "runner/engines/rank_plan.hpp"
#include "runner/engines/share_images.hpp"
#include "runner/engines/survey_input.hpp"
#include "runner/job_file/choice_names.hpp"
#include "runner/job_file/file_names.hpp"
#include "runner/launch.hpp"
#include "runner/messages.hpp"
#include "runner/open_run.hpp"
#include "runner/output/claim.hpp"
#include "runner/output/complete_output.hpp"
#include "runner/output/earlier_parts.hpp"
#include "runner/output/settle_output.hpp"
#include "runner/output/take_names.hpp"
#include "runner/output/taken_rows.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/ranks/host_memory.hpp"
#include "runner/ranks/kept_rates.hpp"
#include "runner/ranks/prepare_on_all.hpp"
#include "runner/report/job_counts.hpp"
#include "runner/report/report.hpp"
#include "runner/run_passes.hpp"
#include "runner/run_report.hpp"
#include "runner/watch/progress.hpp"
#include "runner/watch/stop.hpp"
#include "runner/watch/trace.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <unistd.h>

namespace runner {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Throws where a signal has asked this rank to end. Nothing that is kept is made yet.
void end_if_asked(const Ranks& ranks) {
    if (const std::string signal = signal_received(1); !signal.empty()) {
        throw Error(ExitCode::stopped,
                    {"stopped while " + std::string(ranks.standing().doing.load()),
                     "signal " + signal, "", "The same command runs it"});
    }
}

/// Begins the next step before the stream, unless a rank is to end. Collective.
void begin_step(const Ranks& ranks, const char* doing) {
    ranks.together([&] { end_if_asked(ranks); });
    ranks.note(doing);
}

void generate_input(const PreparedJob& prepared, int threads, const std::function<void()>& check) {
    const JobFile::Input& input = prepared.file.input;
    say("making " + printable(input.file) + " (" +
        size_text(byte_count(prepared.layout.info.array)) + ")\n");
    GenerateStorage storage;
    storage.check = check;
    generate(*input.generate, input.file, input.dataset, threads, Overwrite::no, storage);
}

/// Rank 0 makes the output and its journal, or finds them, and tells the others.
Beginning begin_output(PreparedJob& prepared, int cores, const Ranks& ranks) {
    Beginning own;
    ranks.first_alone([&] { own = claim_output(prepared, ranks.size(), cores); });
    Beginning beginning = ranks.broadcast(own);
    prepared.parts = beginning.parts;
    prepared.parts->folder = parts_folder(prepared.file.output.file);
    return beginning;
}

std::string stopped_line(const PreparedJob& prepared, const Stopped& stopped) {
    return "stopped by " + printable(stopped.reason) + ": " + stopped.done +
           printable(prepared.file.output.file) + " are done; the same command resumes the job\n";
}

std::string notes_text(const std::vector<std::string>& notes) {
    std::string text;
    for (const std::string& note : notes) {
        text += "  " + printable(note) + "\n";
    }
    return text;
}

Trace wanted_trace(const RunCommand& command, const Ranks& ranks) {
    return Trace(command.trace ? Trace::default_capacity : 0,
                 command.reports.empty() ? 0 : timeline_bars(ranks.rank(), ranks.size()));
}

/// How the middle of a run went.
struct Streamed {
    std::optional<Stopped> stopped; ///< nothing: all ranks made all their rows
    double start_seconds = 0;       ///< from the program's start to the first row
    Clock::time_point end;          ///< of the last row
};

/// Waits until the rows that the run took over are compared with their checksums; false where a
/// stop was asked for before, on any rank. Collective. @throws Error (output) where some are wrong.
bool finish_taken(TakenRows& taken, const PreparedJob& prepared, const RunContext& context) {
    const Ranks& ranks = context.ranks;
    const bool finished = ranks.together([&] { return taken.finish(context.stop); });
    if (ranks.least(finished ? 1 : 0) == 0) {
        return false;
    }
    std::vector<RowHash> wrong;
    for (const std::vector<RowHash>& each : ranks.gather(taken.wrong())) {
        wrong.insert(wrong.end(), each.begin(), each.end());
    }
    ranks.first_alone([&] { refuse_wrong_rows(prepared, context.beginning, wrong); });
    return true;
}

/// Surveys the input, which may replace the job of `prepared`, opens the run, and does this rank's
/// part; `mine` gets its times. Collective.
Streamed stream(const RunCommand& command, PreparedJob& prepared, const JobPlan& plan,
                const RunContext& context, const RankBinding& binding, Clock::time_point start,
                Trace& trace, RankReport& mine) {
    const Ranks& ranks = context.ranks;
    OpenRun& open = context.open;
    const bool surveyed = survey_input(
        prepared, ranks, binding.limits.cores, plan.io_threads, context.stop, open.progress,
        ranks.first() && !command.quiet ? progress_style(stderr) : ProgressStyle::silent);
    const std::unique_ptr<EngineRun> engine = open_run(plan, context);
    const auto taken = ranks.together([&] {
        return std::make_unique<TakenRows>(output_dataset(prepared), context.beginning.unread,
                                           ranks.rank(), ranks.size(), plan.io_threads);
    });
    Streamed streamed;
    streamed.start_seconds = seconds_since(start);
    if (surveyed) {
        mine.times = run_engine(*engine, context, binding,
                                command.quiet ? ShowProgress::no : ShowProgress::yes,
                                command.trace || !command.reports.empty() ? &trace : nullptr);
        if (binding.backend == Backend::cpu) {
            mine.times.device_bytes = 0; // its device is the host
        }
    }
    streamed.end = Clock::now();
    ranks.together([&] {
        open.commits->finish();
        open.writer->finish(RowWriter::Sync::no);
    });
    streamed.stopped = engine->agree_on_stop();
    if (!streamed.stopped && (!surveyed || !finish_taken(*taken, prepared, context))) {
        streamed.stopped = Stopped{context.stop.reason(), "all rows of "};
    }
    mine.resident_peak = peak_resident_memory();
    mine.bars = trace.timeline().bars();
    mine.merged_below_seconds = trace.timeline().resolution();
    return streamed;
}

/// What is known when all rows are made; the times are left to fill in. The arguments outlive it.
RunReport run_report(const PreparedJob& prepared, const std::vector<std::string>& settings,
                     const JobPlan& plan, const Beginning& beginning,
                     std::vector<RankReport> ranks) {
    const JobFile::Input& from = prepared.file.input;
    const FileFacts input = file_facts(from.origin ? from.origin->file : from.file);
    std::vector<const RunTimes*> times;
    times.reserve(ranks.size());
    for (const RankReport& rank : ranks) {
        times.push_back(&rank.times);
    }
    std::vector<JobCount> counts = all_counts(
        *prepared.job, times, from.origin ? from.origin->counts : std::vector<JobCount>{});
    return {.job = prepared.file,
            .settings = settings,
            .settled = prepared.settled,
            .plan = plan,
            .input = prepared.input,
            .input_bytes = input.bytes,
            .input_modified = input.modified,
            .ranks = std::move(ranks),
            .started = {},
            .runs = beginning.generation,
            .rows_before = count_rows(beginning.done),
            .counts = std::move(counts),
            .folder = std::filesystem::current_path().string(),
            .launcher = launcher_name(),
            .warnings = prepared.input.notes,
            .notes = beginning.notes};
}

/// Puts the output together and gives it its name. Collective.
void complete(const PreparedJob& prepared, const Beginning& beginning, const Ranks& ranks,
              Prober& prober, RunReport& report) {
    ranks.together([&] {
        assemble_output(output_dataset(prepared), {ranks.rank(), ranks.size(),
                                                   report.plan.io_threads, prepared.parts_sync()});
    });
    ranks.first_alone([&] {
        for (std::string& warning :
             complete_output(prepared, beginning, provenance(report), prober)) {
            tell_warning(warning);
            report.warnings.push_back(std::move(warning));
        }
    });
}

} // namespace

std::string owner_text(const std::string& host) {
    std::string text = fmt::format("process {} on {}", ::getpid(), host);
    if (const char* job = std::getenv("SLURM_JOB_ID")) {
        text += ", Slurm job " + std::string(job);
    }
    return text;
}

std::vector<std::string> settings_of(const RunCommand& command) {
    std::vector<std::string> settings = command.settings;
    if (command.backend) {
        settings.push_back("run.backend=" + toml_text(name_of(*command.backend)));
    }
    if (command.resume) {
        settings.push_back("run.resume=" + toml_text(name_of(*command.resume)));
    }
    return settings;
}

ExitCode run_job(const RunCommand& command, const Ranks& ranks, Clock::time_point start) {
    Prober prober;
    std::jthread device; // ends last: others may wait for it within CUDA
    const LoadJob load = [&] { return load_job_file(command.job, settings_of(command)); };
    const BackendChoice backend = ranks.together([&] {
        const JobFile file = load();
        ranks.standing().stall_seconds = file.run.stall_seconds;
        if (ranks.first()) {
            require_one_dataset(file);
            check_file_names(file, command.reports, command.trace);
        }
        return file.run.backend;
    });
    if (backend != BackendChoice::cpu) {
        if (!Ranks::started_by_launcher()) { // whose rank has started the driver, beside MPI
            show_first_device_only();
        }
        // Beside the first look at the input, since each takes a good part of a second. Whoever
        // needs the device waits within CUDA until it is there. Ranks take GPUs in turn.
        device = std::jthread([nth = ranks.local_rank()] { start_device(nth); });
    }
    PassLog log;
    const RunPass run = [&](const RunCommand& of_pass, const LoadJob& load_pass) {
        return run_pass(of_pass, load_pass, ranks, prober, start, log);
    };
    std::vector<JobPass> passes = passes_on_all(load, ranks, prober);
    return passes.empty() ? run(command, load)
                          : run_passes(command, std::move(passes), run, ranks, prober);
}

ExitCode run_pass(const RunCommand& command, const LoadJob& load, const Ranks& ranks,
                  Prober& prober, Clock::time_point start, PassLog& log) {
    ranks.standing().attended = false;
    begin_step(ranks, "looking at the input");
    PreparedJob prepared = prepare_on_all(load, ranks, prober);
    if (ranks.first()) {
        for (const std::string& note : prepared.input.notes) {
            tell_warning(note);
        }
    }
    begin_step(ranks, "finding its device");
    const RankBinding binding = bind_rank(ranks, prepared.file.run.backend);
    return run_bound(command, load, std::move(prepared), binding, ranks, prober, start, log);
}

ExitCode run_bound(const RunCommand& command, const LoadJob& load, PreparedJob prepared,
                   const RankBinding& binding, const Ranks& ranks, Prober& prober,
                   Clock::time_point start, PassLog& log) {
    begin_step(ranks, "planning the job");
    const PlanPtr first_plan = plan_rank(prepared, binding, ranks);
    const auto check = [&] { end_if_asked(ranks); };
    begin_step(ranks, "computing the images that the job needs");
    // The identity needs them.
    share_images(*prepared.job, first_plan->need.images_work, ranks, check);
    begin_step(ranks, "inspecting what is under the output's name");
    std::unique_ptr<FileLock> lock;
    ToDo to_do = ToDo::nothing;
    FileMark replaces;
    std::optional<int> parts_set;
    ranks.first_alone([&] {
        check_side_files(command);
        (void)disk_space(prepared); // the output's folder is there
        lock = std::make_unique<FileLock>(lock_path(prepared.file.output.file),
                                          owner_text(binding.host));
        take_names(prepared.file.output.file, *lock, prober);
        settle_parts(prepared, *lock, prober);
        parts_set = prepared.parts_set;
        to_do = settle_output(prepared, prober);
        if (to_do == ToDo::make) {
            check_output(prepared);
            replaces = mark_of(prepared.file.output.file);
        }
    });
    if (ranks.least(ranks.first() && to_do == ToDo::nothing ? 0 : 1) == 0) {
        if (ranks.first()) {
            tell_complete(command, prepared.file.output.file);
        }
        return ExitCode::ok;
    }
    if (prepared.input_is_missing) {
        begin_step(ranks, "making its input");
        ranks.first_alone([&] { generate_input(prepared, binding.limits.cores, check); });
        prepared = prepare_on_all(load, ranks, prober);
    }
    prepared.replaces = replaces;
    prepared.parts_set = parts_set;
    const ExitCode code = run_claimed(command, prepared, binding, ranks, prober, start, log);
    if (code == ExitCode::ok) {
        ranks.first_alone([&] { release_output(prepared, prepared.own_parts_set()); });
    }
    return code;
}

ExitCode run_claimed(const RunCommand& command, PreparedJob& prepared, const RankBinding& binding,
                     const Ranks& ranks, Prober& prober, Clock::time_point start, PassLog& log) {
    const std::string started = utc_text(std::time(nullptr));
    ranks.standing().attended = false;
    begin_step(ranks, "making the output, or taking over what an earlier run left");
    const Beginning beginning = begin_output(prepared, binding.limits.cores, ranks);
    const PlanPtr plan = plan_rank(prepared, binding, ranks, beginning.done);
    share_images(*prepared.job, plan->need.images_work, ranks, [&] { end_if_asked(ranks); });
    RankReport mine = rank_report(binding, *plan, ranks);
    const std::string table = binding_table(ranks.gather(mine));
    if (ranks.first() && !command.quiet) {
        say(table + plan->text() + notes_text(beginning.notes));
    }

    OpenRun open;
    Stop stop(stop_files(prepared.file.output), ranks.size());
    stop.look(); // a short job may be done before the attendant does
    std::optional<Attendant> attendant(std::in_place, command, prepared, binding, ranks, start,
                                       open, stop);
    ranks.note("running it");
    Trace trace = wanted_trace(command, ranks);
    const RunContext context{prepared, ranks, beginning, open, stop};
    const Streamed streamed =
        stream(command, prepared, *plan, context, binding, start, trace, mine);
    if (streamed.stopped) {
        if (ranks.first()) {
            say(stopped_line(prepared, *streamed.stopped));
        }
        return ExitCode::stopped;
    }

    add_uses(log.kernels, mine.times.kernels);
    mine.times.kernels = log.kernels;
    if (!command.reports.empty() && binding.backend == Backend::cuda) {
        mine.rates = kept_rates(binding.device.uuid);
    }
    const std::vector<std::string> settings = settings_of(command);
    ranks.note("completing the output");
    RunReport report = run_report(prepared, settings, *plan, beginning, ranks.gather(mine));
    report.started = started;
    log.start_seconds = log.start_seconds.value_or(streamed.start_seconds);
    report.start_seconds = *log.start_seconds;
    report.seconds_before = log.seconds;
    report.wall_seconds = seconds_since(start);
    complete(prepared, beginning, ranks, prober, report);
    attendant.reset(); // on every rank, before the folder of its files goes
    ranks.barrier();
    report.wall_seconds = seconds_since(start);
    report.finish_seconds = seconds_since(streamed.end);
    add_events(command, binding, ranks, trace, streamed.start_seconds - report.start_seconds, log);
    if (ranks.first() && prepared.file.pipeline) {
        log.reports.push_back(pass_report(command.pass, prepared.file, *plan, report.ranks));
        report.passes = log.reports;
    }
    log.seconds = report.wall_seconds;
    write_all(command, report, prepared, binding, ranks, log);
    return ExitCode::ok;
}

ExitCode run_on_all_ranks(const RunCommand& command, Clock::time_point start) {
    return on_all_ranks(command.backend.value_or(BackendChoice::automatic),
                        [&](const Ranks& ranks) { return run_job(command, ranks, start); });
}

} // namespace runner
