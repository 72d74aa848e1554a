// SPDX-License-Identifier: BSD-3-Clause
#include "runner/run.hpp"

#include "base/sizes.hpp"
#include "runner/bind_rank.hpp"
#include "runner/generate.hpp"
#include "runner/host_memory.hpp"
#include "runner/prepare.hpp"
#include "runner/progress.hpp"
#include "runner/report.hpp"
#include "runner/stream_engine.hpp"
#include "runner/text_file.hpp"
#include "runner/trace.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include <sys/stat.h>

namespace runner {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

void say(const std::string& text) { (void)std::fputs(text.c_str(), stderr); }

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

/// Calls `look` a few times a second from a thread of its own until it is destroyed.
class Ticker {
  public:
    explicit Ticker(const std::function<void()>& look) : thread_([this, look] { tick(look); }) {}
    Ticker(const Ticker&) = delete;
    Ticker& operator=(const Ticker&) = delete;
    ~Ticker() {
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
        }
        wake_.notify_all();
        thread_.join();
    }

  private:
    void tick(const std::function<void()>& look) {
        std::unique_lock lock(mutex_);
        while (!wake_.wait_for(lock, std::chrono::milliseconds(200), [&] { return over_; })) {
            look();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    bool over_ = false;
    std::thread thread_;
};

/// Refuses on rank 0, before anything is written, an output that cannot be made.
void check_output(const PreparedJob& prepared) {
    const JobFile::Output& output = prepared.file.output;
    const DiskSpace disk = disk_space(prepared);
    std::error_code ignored;
    if (!output.overwrite && std::filesystem::exists(output.file, ignored)) {
        throw Error(ExitCode::output,
                    {"the output is already there", output.file, "it would be lost",
                     "Set output.overwrite = true, or another output.file"});
    }
    if (disk.free < disk.needed) {
        throw Error(
            ExitCode::output,
            {"the output does not fit on its disk", output.file,
             "it takes " + size_text(disk.needed) + " and " + size_text(disk.free) + " are free",
             "Free " + size_text(disk.needed - disk.free) + ", or name another disk"});
    }
}

/// Refuses files that could only be found impossible to write when all is done.
void check_side_files(const RunCommand& command) {
    std::vector<std::string> files = command.reports;
    if (command.trace) {
        files.push_back(*command.trace);
    }
    for (const std::string& file : files) {
        const std::filesystem::path folder = std::filesystem::path(file).parent_path();
        std::error_code ignored;
        if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
            throw Error(ExitCode::output,
                        {"cannot write", file, "there is no folder " + folder.string(),
                         "Make it: mkdir -p " + folder.string()});
        }
    }
}

/// This version starts every job anew, so it cannot promise to go on.
void check_resume(ResumeChoice resume) {
    if (resume == ResumeChoice::require) {
        throw Error(ExitCode::usage,
                    {"cannot go on where a run stopped", "run.resume",
                     "this version always starts anew", "Use resume = \"auto\" or \"never\""});
    }
}

void generate_input(const PreparedJob& prepared, int threads) {
    const JobFile::Input& input = prepared.file.input;
    say("making " + input.file + " (" + size_text(byte_count(prepared.input.array)) + ")\n");
    generate(*input.generate, input.file, input.dataset, threads);
}

/// The shared middle of a run on one rank: what is open while the stream runs.
struct OpenRun {
    std::unique_ptr<RowReader> reader;
    std::unique_ptr<RowWriter> writer;
    std::unique_ptr<BorderRows> border;
};

OpenRun open_run(const PreparedJob& prepared, const Plan& plan, const Ranks& ranks) {
    const JobFile& file = prepared.file;
    OpenRun open;
    ranks.first_alone([&] { create_output(output_dataset(prepared)); });
    ranks.together([&] {
        open.reader = open_rows(file.input.file, file.input.dataset, plan.io_threads);
        open.writer = open_output_rows(output_dataset(prepared), ranks.rank(), plan.io_threads);
        open.border =
            std::make_unique<BorderRows>(plan.decomposition, ranks.rank(), plan.shape.in_row_bytes);
        open.border->read_own(*open.reader);
    });
    open.border->exchange(ranks);
    return open;
}

ProgressSnapshot snapshot(const Plan& plan, std::int64_t slab_rows, const StreamProgress& progress,
                          double seconds) {
    ProgressSnapshot now;
    now.rows_done = progress.rows_done;
    now.rows_total = slab_rows;
    // The first rank's slab stands for all: the others have as many rows.
    now.bytes_done = now.rows_done * (plan.shape.in_row_bytes + plan.shape.out_row_bytes) *
                     plan.decomposition.ranks;
    now.seconds = seconds;
    for (std::size_t i = 0; i < stage_count; ++i) {
        now.stages.push_back({stage_names[i], progress.busy_seconds[i]});
    }
    return now;
}

StreamTimes stream_with_progress(const RunCommand& command, const PreparedJob& prepared,
                                 const Plan& plan, const RankBinding& binding, const Ranks& ranks,
                                 OpenRun& open, Trace* trace) {
    StreamProgress progress;
    const std::int64_t slab_rows = plan.decomposition.slab(ranks.rank()).count();
    const Stream stream{plan,         prepared.stream(), ranks.rank(), *open.reader, *open.border,
                        *open.writer, progress,          trace,        say};
    const bool shown = ranks.first() && !command.quiet;
    Progress view(stderr, shown ? progress_style(stderr) : ProgressStyle::silent,
                  prepared.file.name);
    const auto start = Clock::now();
    StreamTimes times;
    {
        const Ticker ticker(
            [&] { view.update(snapshot(plan, slab_rows, progress, seconds_since(start))); });
        times = run_stream(stream, [&] {
            return make_queue(binding.backend, binding.device.index, binding.limits.cores);
        });
    }
    view.finish(snapshot(plan, slab_rows, progress, seconds_since(start)));
    return times;
}

RankReport rank_report(const RankBinding& binding, const Plan& plan, const Ranks& ranks) {
    RankReport report;
    report.rank = ranks.rank();
    report.host = binding.host;
    report.device = binding.backend == Backend::cuda ? binding.device.name : "CPU";
    report.uuid = binding.device.uuid;
    report.sharers = binding.sharers;
    report.cores = cpu_list_text(binding.cores);
    const RowRange slab = plan.decomposition.slab(ranks.rank());
    report.first_row = slab.first;
    report.last_row = slab.last;
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

/// Rank 0, once every rank has handed over its last row: the output gets its name.
void complete_output(const PreparedJob& prepared, RunReport& report) {
    const JobFile::Output& output = prepared.file.output;
    const auto sync = output.sync ? RowWriter::Sync::yes : RowWriter::Sync::no;
    const OutputDataset dataset = output_dataset(prepared);
    assemble_output(dataset, report.plan.decomposition.ranks, sync);
    write_attributes(dataset.file, provenance(report));
    publish_output(dataset.file, output.file, output.overwrite ? Overwrite::yes : Overwrite::no,
                   sync);
}

std::string closing_line(const RunReport& report) {
    const Bottleneck bottleneck = find_bottleneck(report.ranks);
    const StreamShape& shape = report.plan.shape;
    const std::int64_t bytes =
        report.plan.decomposition.total_rows() * (shape.in_row_bytes + shape.out_row_bytes);
    std::array<char, 160> text{};
    (void)std::snprintf(text.data(), text.size(),
                        "%s read and written in %.2f s, %.2f GB/s; slowest stage %s, %.0f %% of "
                        "the stream's time\n",
                        size_text(bytes).c_str(), report.wall_seconds,
                        1e-9 * static_cast<double>(bytes) / report.wall_seconds,
                        stage_names[static_cast<std::size_t>(bottleneck.stage)].data(),
                        100 * bottleneck.overlap_efficiency);
    return report.job.output.file + ": " + text.data();
}

/// The command line's choices, laid over the job file like any other setting.
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

PreparedJob prepare(const RunCommand& command, const Ranks& ranks) {
    return ranks.together(
        [&] { return prepare_job(load_job_file(command.job, settings_of(command))); });
}

} // namespace

void run_job(const RunCommand& command, const Ranks& ranks, Clock::time_point start) {
    const std::string started = utc_text(std::time(nullptr));
    PreparedJob prepared = prepare(command, ranks);
    ranks.together([&] { check_resume(prepared.file.run.resume); });
    const RankBinding binding = bind_rank(ranks, prepared.file.run.backend);
    const Plan plan = ranks.together(
        [&] { return plan_job(prepared, binding.backend, ranks.size(), binding.limits); });
    ranks.first_alone([&] {
        check_side_files(command);
        check_output(prepared);
    });
    if (prepared.input_is_missing) {
        ranks.first_alone([&] { generate_input(prepared, binding.limits.cores); });
        prepared = prepare(command, ranks);
    }
    RankReport mine = rank_report(binding, plan, ranks);
    const std::string table = binding_table(gather_reports(mine, ranks));
    if (ranks.first() && !command.quiet) {
        say(table + plan_text(plan));
    }

    OpenRun open = open_run(prepared, plan, ranks);
    const double start_seconds = seconds_since(start);
    Trace trace(command.trace ? Trace::default_capacity : 0);
    mine.times = stream_with_progress(command, prepared, plan, binding, ranks, open,
                                      command.trace ? &trace : nullptr);
    const auto streamed = Clock::now();
    open.writer->finish(prepared.file.output.sync ? RowWriter::Sync::yes : RowWriter::Sync::no);
    mine.times[Stage::read].bytes = open.border->bytes_read(); // of storage: no row twice
    mine.border_bytes_sent = open.border->bytes_sent();
    mine.border_rows_held = open.border->rows_held();
    mine.resident_peak = peak_resident_memory();

    const FileFacts input = file_facts(prepared.file.input.file);
    const std::vector<std::string> settings = settings_of(command);
    RunReport report{prepared.file,
                     settings,
                     plan,
                     prepared.input,
                     input.bytes,
                     input.modified,
                     gather_reports(mine, ranks),
                     started,
                     start_seconds,
                     seconds_since(start),
                     0};
    ranks.first_alone([&] { complete_output(prepared, report); });
    report.wall_seconds = seconds_since(start);
    report.finish_seconds = seconds_since(streamed);
    const std::vector<std::string> events = ranks.gather(trace.chrome_events(
        ranks.rank(), "rank " + std::to_string(ranks.rank()) + " on " + binding.host));
    ranks.first_alone([&] {
        for (const std::string& file : command.reports) {
            write_text_file(file, report_json(report));
        }
        if (command.trace) {
            write_chrome_trace(*command.trace, events);
        }
    });
    if (ranks.first() && !command.quiet) {
        say(closing_line(report));
    }
}

void tell_error(const std::string& text) { say("runner: error: " + text + "\n"); }

bool is_first_process() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        if (const char* rank = std::getenv(name)) {
            return std::string_view(rank) == "0";
        }
    }
    return true;
}

ExitCode run_on_all_ranks(const RunCommand& command, Clock::time_point start) {
    std::jthread driver;
    if (Ranks::started_by_launcher() && command.backend != BackendChoice::cpu) {
        // Beside MPI's start: each takes a good part of a second.
        driver = std::jthread(start_driver);
    }
    Ranks ranks;
    if (driver.joinable()) {
        driver.join();
    }
    try {
        run_job(command, ranks, start);
    } catch (const AgreedError& error) {
        if (ranks.first()) {
            tell_error(error.what());
        }
        ranks.finalize();
        return error.code();
    } catch (const std::exception& error) {
        // Only this rank knows: tell it here and end the others, who may wait for this one.
        const auto* known = dynamic_cast<const Error*>(&error);
        tell_error((known == nullptr ? "a defect of the program: " : "") +
                   std::string(error.what()) +
                   (ranks.size() > 1 ? " [rank " + std::to_string(ranks.rank()) + "]" : ""));
        ranks.abort(known == nullptr ? ExitCode::defect : known->code());
    }
    ranks.finalize();
    return ExitCode::ok;
}

} // namespace runner
