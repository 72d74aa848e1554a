// SPDX-License-Identifier: BSD-3-Clause
#include "runner/run_report.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "io/files/own_file.hpp"
#include "io/files/text_file.hpp"
#include "io/input/stack.hpp"
#include "io/output/journal.hpp"
#include "runner/launch.hpp"
#include "runner/messages.hpp"
#include "runner/page/report_page.hpp"
#include "runner/page/report_pictures.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/ranks/host_memory.hpp"
#include "runner/report/job_counts.hpp"

#include <cerrno>
#include <filesystem>
#include <optional>

#include <sys/stat.h>
#include <unistd.h>

namespace runner {

void tell_complete(const RunCommand& command, const std::string& output) {
    if (!command.quiet) {
        say(printable(output) + " is complete already: nothing to do (" +
            (command.text ? "--overwrite" : "--set output.overwrite=true") + " makes it again)\n");
    }
    if (!command.reports.empty() || command.trace) {
        tell_warning("no report or trace is written, since " + printable(output) +
                     " is complete already");
    }
}

FileFacts file_facts(const std::string& path) {
    constexpr std::int64_t nanoseconds = 1'000'000'000;
    const FileMark mark = mark_of_input(path);
    return mark.bytes < 0 ? FileFacts{}
                          : FileFacts{mark.bytes, utc_text(mark.modified / nanoseconds)};
}

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
                         "Make it: mkdir -p " + shell_word(folder.string())});
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

RunReport run_report(const PreparedJob& prepared, const std::vector<std::string>& settings,
                     const JobPlan& plan, const output::Beginning& beginning,
                     std::vector<RankReport> ranks) {
    const std::optional<InputOrigin>& origin = prepared.place.origin;
    const FileFacts input = file_facts(origin ? origin->file : prepared.file.input.file);
    const DatasetInfo& info = origin ? origin->info : prepared.input;
    std::vector<const RunTimes*> times;
    times.reserve(ranks.size());
    for (const RankReport& rank : ranks) {
        times.push_back(&rank.times);
    }
    std::vector<JobCount> counts =
        all_counts(*prepared.job, times, origin ? origin->counts : std::vector<JobCount>{},
                   count_rows(beginning.done));
    std::vector<std::string> notes = beginning.notes;
    for (std::string& line : prepared.job->found()) {
        notes.push_back(std::move(line));
    }
    return {.job = prepared.file,
            .origin = origin ? &*origin : nullptr,
            .settings = settings,
            .settled = prepared.settled,
            .plan = plan,
            .input = info,
            .input_bytes = input.bytes,
            .input_modified = input.modified,
            .ranks = std::move(ranks),
            .started = {},
            .runs = beginning.attempt,
            .rows_before = count_rows(beginning.done),
            .counts = std::move(counts),
            .folder = std::filesystem::current_path().string(),
            .launcher = launcher_name(),
            .warnings = prepared.input.notes,
            .notes = std::move(notes)};
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

void write_reports(const std::vector<std::string>& files, const RunReport& report,
                   const PreparedJob& prepared, int threads) {
    if (files.empty()) {
        return;
    }
    const std::string json = report_json(report);
    Prober prober;
    const std::optional<InputOrigin>& origin = prepared.place.origin;
    ProbedFiles pictured(prober, origin ? origin->rules : prepared.file.input.rules);
    for (const std::string& file : files) {
        write_text_file(file,
                        file.ends_with(".html")
                            ? report_page(file, json, report_pictures(pictured, prepared, threads))
                            : json);
    }
}

void add_events(const RunCommand& command, const RankBinding& binding, const Ranks& ranks,
                const Trace& trace, double offset, PassLog& log) {
    const std::string process = (command.passes > 1 ? fmt::format("pass {}, ", command.pass) : "") +
                                fmt::format("rank {} on {}", ranks.rank(), binding.host);
    const int number = ranks.rank() + static_cast<int>(command.pass - 1) * ranks.size();
    const std::string events = trace.chrome_events(number, process, offset);
    log.events += (log.events.empty() || events.empty() ? "" : ",\n") + events;
}

void write_all(const RunCommand& command, const RunReport& report, const PreparedJob& prepared,
               const RankBinding& binding, const Ranks& ranks, const PassLog& log) {
    if (command.pass < command.passes) {
        if (ranks.first() && !command.quiet) {
            say(closing_line(report));
        }
        return;
    }
    const std::vector<std::string> events = ranks.gather(log.events);
    ranks.first_alone([&] {
        write_reports(command.reports, report, prepared, binding.limits.cores);
        if (command.trace) {
            write_chrome_trace(*command.trace, events);
        }
    });
    if (ranks.first() && !command.quiet) {
        say(closing_line(report));
    }
}

} // namespace runner
