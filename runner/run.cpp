// SPDX-License-Identifier: BSD-3-Clause
#include "runner/run.hpp"

#include "base/printable.hpp"
#include "base/sizes.hpp"
#include "io/files/file_lock.hpp"
#include "io/files/own_file.hpp"
#include "io/files/text_file.hpp"
#include "io/output/journal.hpp"
#include "io/output/own_parts.hpp"
#include "jobs/generate.hpp"
#include "runner/engines/rank_plan.hpp"
#include "runner/engines/survey_input.hpp"
#include "runner/job_file/file_names.hpp"
#include "runner/open_run.hpp"
#include "runner/page/report_page.hpp"
#include "runner/page/report_pictures.hpp"
#include "runner/plan/prepare.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/ranks/host_memory.hpp"
#include "runner/ranks/prepare_on_all.hpp"
#include "runner/recovery/claim.hpp"
#include "runner/recovery/complete_output.hpp"
#include "runner/recovery/earlier_parts.hpp"
#include "runner/recovery/settle_output.hpp"
#include "runner/report/report.hpp"
#include "runner/watch/progress.hpp"
#include "runner/watch/stop.hpp"
#include "runner/watch/ticker.hpp"
#include "runner/watch/time_keeper.hpp"
#include "runner/watch/trace.hpp"
#include "runner/watch/watchdog.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace runner {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

void say(const std::string& text) { (void)std::fputs(printable_lines(text).c_str(), stderr); }

/// Size and time of a file, for the record.
struct FileFacts {
    std::int64_t bytes = 0;
    std::string modified;
};

FileFacts file_facts(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return {};
    }
    return {status.st_size, utc_text(status.st_mtim.tv_sec)};
}

/// Refuses files that could only be found impossible to write when all is done.
void check_side_files(const RunCommand& command) {
    std::vector<std::string> files = command.reports;
    if (command.trace) {
        files.push_back(*command.trace);
    }
    for (const std::string& file : files) {
        if (is_written_into(file)) {
            continue;
        }
        const std::filesystem::path folder = std::filesystem::path(file).parent_path();
        std::error_code ignored;
        if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
            throw Error(ExitCode::output,
                        {"cannot write", file, "there is no folder " + folder.string(),
                         "Make it: mkdir -p " + folder.string()});
        }
        if (std::filesystem::is_directory(file, ignored)) {
            throw Error(ExitCode::output,
                        {"cannot write", file, "it is a folder", "Name a file in it"});
        }
        // A new file of another name is made in the folder and takes this one's place.
        if (::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0) {
            throw Error(ExitCode::output, {"cannot write", file, errno_text(errno),
                                           "Name a file in a folder that you can write to"});
        }
    }
}

void generate_input(const PreparedJob& prepared, int threads) {
    const JobFile::Input& input = prepared.file.input;
    say("making " + printable(input.file) + " (" +
        size_text(byte_count(prepared.layout.info.array)) + ")\n");
    generate(*input.generate, input.file, input.dataset, threads);
}

RankReport rank_report(const RankBinding& binding, const JobPlan& plan, const Ranks& ranks) {
    RankReport report;
    report.rank = ranks.rank();
    report.host = binding.host;
    report.device = binding.backend == Backend::cuda ? binding.device.name : "CPU";
    report.uuid = binding.device.uuid;
    report.sharers = binding.sharers;
    report.cores = cpu_list_text(binding.cores);
    const RowRange slab = plan.rows_of_rank(ranks.rank());
    report.first_row = slab.first;
    report.last_row = slab.last;
    report.times.chunk_rows = plan.chunk_rows();
    report.times.lanes = plan.lanes;
    report.resident_before = peak_resident_memory();
    return report;
}

std::vector<RankReport> gather_reports(const RankReport& report, const Ranks& ranks) {
    std::vector<RankReport> reports;
    for (const std::string& text : ranks.gather(to_text(report))) {
        reports.push_back(rank_report_from_text(text));
    }
    return reports;
}

/// Of this rank; the first one says what a stop waits for.
TimeKeeper time_keeper(const RunCommand& command, const Ranks& ranks, Clock::time_point start,
                       OpenRun& open, Stop& stop) {
    std::optional<Clock::time_point> deadline;
    if (command.max_seconds) {
        deadline = start + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(*command.max_seconds));
    }
    const auto longest_commit = [&open] { return open.commits->longest_seconds(); };
    std::function<void(const std::string&)> say_line;
    if (ranks.first()) {
        say_line = [](const std::string& line) {
            (void)std::fputs((std::string(over_progress(stderr)) + printable_lines(line)).c_str(),
                             stderr);
        };
    }
    return {stop, open.progress, deadline, longest_commit, say_line};
}

/// Rank 0 makes the output and its journal, or finds them, and tells the others.
Beginning begin_output(PreparedJob& prepared, int cores, const Ranks& ranks) {
    Beginning own;
    ranks.first_alone([&] { own = claim_output(prepared, ranks.size(), cores); });
    Beginning beginning = beginning_from_text(ranks.broadcast(to_text(own)));
    prepared.parts = beginning.parts;
    prepared.parts->folder = parts_folder(prepared.file.output.file);
    beginning.identity = own.identity;
    beginning.notes = own.notes;
    return beginning;
}

std::string stopped_line(const PreparedJob& prepared, const Stopped& stopped) {
    return "stopped by " + printable(stopped.reason) + ": " + stopped.done +
           printable(prepared.file.output.file) + " are done; the same command resumes the job\n";
}

PreparedJob prepare(const RunCommand& command, const Ranks& ranks, Prober& prober) {
    const auto load = [&] { return load_job_file(command.job, settings_of(command)); };
    ranks.first_alone([&] {
        const JobFile file = load();
        require_one_dataset(file);
        check_file_names(file, command.reports, command.trace);
    });
    return prepare_on_all(load, ranks, prober);
}

/// The last word of a run that found its output complete. A report would be of nothing.
void tell_complete(const RunCommand& command, const std::string& output) {
    if (!command.quiet) {
        say(printable(output) +
            " is complete already: nothing to do (--set output.overwrite=true makes it "
            "again)\n");
    }
    if (!command.reports.empty() || command.trace) {
        tell_warning("no report or trace is written, since " + printable(output) +
                     " is complete already");
    }
}

void write_reports(const std::vector<std::string>& files, const RunReport& report,
                   const PreparedJob& prepared, int threads) {
    if (files.empty()) {
        return;
    }
    const std::string json = report_json(report);
    Prober prober;
    ProbedFiles pictured(prober, prepared.file.input.rules);
    for (const std::string& file : files) {
        write_text_file(file,
                        file.ends_with(".html")
                            ? report_page(file, json, report_pictures(pictured, prepared, threads))
                            : json);
    }
}

} // namespace

std::string owner_text(const std::string& host) {
    std::string text = "process " + std::to_string(::getpid()) + " on " + host;
    if (const char* job = std::getenv("SLURM_JOB_ID")) {
        text += ", Slurm job " + std::string(job);
    }
    return text;
}

std::vector<std::string> settings_of(const RunCommand& command) {
    std::vector<std::string> settings = command.settings;
    if (command.backend) {
        static constexpr std::array names = {"auto", "cpu", "cuda"};
        settings.push_back(std::string("run.backend=\"") +
                           names[static_cast<std::size_t>(*command.backend)] + "\"");
    }
    if (command.resume) {
        static constexpr std::array names = {"auto", "never", "require"};
        settings.push_back(std::string("run.resume=\"") +
                           names[static_cast<std::size_t>(*command.resume)] + "\"");
    }
    return settings;
}

ExitCode run_job(const RunCommand& command, const Ranks& ranks, Clock::time_point start) {
    Prober prober;
    PreparedJob prepared = prepare(command, ranks, prober);
    if (ranks.first()) {
        for (const std::string& note : prepared.input.notes) {
            tell_warning(note);
        }
    }
    const RankBinding binding = bind_rank(ranks, prepared.file.run.backend);
    (void)plan_rank(prepared, binding, ranks);
    std::unique_ptr<FileLock> lock;
    ToDo to_do = ToDo::nothing;
    FileMark replaces;
    std::optional<int> parts_set;
    ranks.first_alone([&] {
        check_side_files(command);
        (void)disk_space(prepared); // the output's folder is there
        lock = std::make_unique<FileLock>(lock_path(prepared.file.output.file),
                                          owner_text(binding.host));
        check_own_parts(prepared.file.output.file, *lock);
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
        ranks.first_alone([&] { generate_input(prepared, binding.limits.cores); });
        prepared = prepare(command, ranks, prober);
    }
    prepared.replaces = replaces;
    prepared.parts_set = parts_set;
    const ExitCode code = run_claimed(command, prepared, binding, ranks, start);
    if (code == ExitCode::ok) {
        ranks.first_alone([&] { release_output(prepared, prepared.own_parts_set()); });
    }
    return code;
}

ExitCode run_claimed(const RunCommand& command, PreparedJob& prepared, const RankBinding& binding,
                     const Ranks& ranks, Clock::time_point start) {
    const std::string started = utc_text(std::time(nullptr));
    const Beginning beginning = begin_output(prepared, binding.limits.cores, ranks);
    const PlanPtr plan = plan_rank(prepared, binding, ranks, beginning.done);
    RankReport mine = rank_report(binding, *plan, ranks);
    const std::string table = binding_table(gather_reports(mine, ranks));
    if (ranks.first() && !command.quiet) {
        say(table + plan->text());
        for (const std::string& note : beginning.notes) {
            say("  " + printable(note) + "\n");
        }
    }

    OpenRun open;
    Stop stop(stop_files(prepared.file.output.file), ranks.size());
    stop.look(); // a short job may be done before the attendant does
    Heartbeat heartbeat(journal_folder(prepared.file.output.file), ranks.rank(), ranks.size(),
                        binding.host);
    Watchdog watchdog(open.progress, heartbeat, prepared.file.run.stall_seconds);
    TimeKeeper keeper = time_keeper(command, ranks, start, open, stop);
    std::optional<Ticker> attendant(std::in_place, [&] {
        keeper.look(Clock::now());
        if (const std::optional<Error> stall = watchdog.look()) {
            tell_error(with_rank(*stall, binding, ranks).what());
            ranks.abort(stall->code());
        }
    });
    const bool surveyed = survey_input(
        prepared, ranks, binding.limits.cores, plan->io_threads, stop, open.progress,
        ranks.first() && !command.quiet ? progress_style(stderr) : ProgressStyle::silent);
    const RunContext context{prepared, ranks, beginning, open, stop};
    const std::unique_ptr<EngineRun> engine = open_run(*plan, context);
    const double start_seconds = seconds_since(start);
    const bool reports = !command.reports.empty();
    Trace trace(command.trace ? Trace::default_capacity : 0,
                reports ? timeline_bars(ranks.rank(), ranks.size()) : 0);
    if (surveyed) {
        mine.times = run_engine(*engine, context, binding,
                                command.quiet ? ShowProgress::no : ShowProgress::yes,
                                command.trace || reports ? &trace : nullptr);
        if (binding.backend == Backend::cpu) {
            mine.times.device_bytes = 0; // its device is the host
        }
    }
    const auto streamed = Clock::now();
    ranks.together([&] {
        open.commits->finish();
        open.writer->finish(RowWriter::Sync::no);
    });
    std::optional<Stopped> stopped = engine->agree_on_stop();
    if (!stopped && !surveyed) {
        stopped = Stopped{stop.reason(), "all rows of "};
    }
    if (stopped) {
        if (ranks.first()) {
            say(stopped_line(prepared, *stopped));
        }
        return ExitCode::stopped;
    }
    mine.resident_peak = peak_resident_memory();
    mine.bars = trace.timeline().bars();
    mine.merged_below_seconds = trace.timeline().resolution();

    const FileFacts input = file_facts(prepared.file.input.file);
    const std::vector<std::string> settings = settings_of(command);
    RunReport report{prepared.file,
                     settings,
                     *plan,
                     prepared.input,
                     input.bytes,
                     input.modified,
                     gather_reports(mine, ranks),
                     started,
                     start_seconds,
                     seconds_since(start),
                     beginning.generation,
                     count_rows(beginning.done),
                     0,
                     std::filesystem::current_path().string(),
                     prepared.input.notes,
                     beginning.notes};
    ranks.first_alone([&] { complete_output(prepared, beginning, provenance(report)); });
    attendant.reset(); // on every rank, before the folder of its files goes
    ranks.barrier();
    report.wall_seconds = seconds_since(start);
    report.finish_seconds = seconds_since(streamed);
    const std::vector<std::string> events = ranks.gather(trace.chrome_events(
        ranks.rank(), "rank " + std::to_string(ranks.rank()) + " on " + binding.host));
    ranks.first_alone([&] {
        write_reports(command.reports, report, prepared, binding.limits.cores);
        if (command.trace) {
            write_chrome_trace(*command.trace, events);
        }
    });
    if (ranks.first() && !command.quiet) {
        say(closing_line(report));
    }
    return ExitCode::ok;
}

void tell_error(const std::string& text) { say("runner: error: " + text + "\n"); }

void tell_warning(const std::string& text) { say("runner: warning: " + text + "\n"); }

bool is_first_process() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        if (const char* rank = std::getenv(name)) {
            return std::string_view(rank) == "0";
        }
    }
    return true;
}

ExitCode on_all_ranks(BackendChoice backend, const std::function<ExitCode(const Ranks&)>& part) {
    take_signals_over();
    std::jthread driver;
    if (Ranks::started_by_launcher() && backend != BackendChoice::cpu) {
        // Beside MPI's start: each takes a good part of a second.
        driver = std::jthread(start_driver);
    }
    Ranks ranks;
    if (driver.joinable()) {
        driver.join();
    }
    ExitCode code = ExitCode::ok;
    try {
        code = part(ranks);
    } catch (const AgreedError& error) {
        if (ranks.first()) {
            tell_error(error.what());
        }
        ranks.finalize();
        return error.code();
    } catch (const std::bad_alloc&) {
        const OutOfMemory error = out_of_host_memory();
        tell_error(error.what());
        ranks.abort(error.code());
    } catch (const std::exception& error) {
        // Only this rank knows: tell it here and end the others, who may wait for this one.
        const auto* known = dynamic_cast<const Error*>(&error);
        tell_error((known == nullptr ? "a defect of the program: " : "") +
                   std::string(error.what()));
        ranks.abort(known == nullptr ? ExitCode::defect : known->code());
    }
    ranks.finalize();
    return code;
}

ExitCode run_on_all_ranks(const RunCommand& command, Clock::time_point start) {
    return on_all_ranks(command.backend.value_or(BackendChoice::automatic),
                        [&](const Ranks& ranks) { return run_job(command, ranks, start); });
}

} // namespace runner
