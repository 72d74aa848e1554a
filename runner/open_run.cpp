// SPDX-License-Identifier: BSD-3-Clause
#include "runner/open_run.hpp"

#include "base/error.hpp"
#include "io/journal.hpp"
#include "runner/progress.hpp"
#include "runner/ticker.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace runner {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

void say(const std::string& line) { (void)std::fputs(line.c_str(), stderr); }

ProgressSnapshot snapshot(const Plan& plan, std::int64_t rows, const StreamProgress& progress,
                          double seconds) {
    ProgressSnapshot now;
    now.rows_done = progress.rows_done;
    now.rows_total = rows;
    // The first rank's slab stands for all: the others have as many rows.
    now.bytes_done = now.rows_done * (plan.shape.in_row_bytes + plan.shape.out_row_bytes) *
                     plan.decomposition.ranks;
    now.seconds = seconds;
    for (std::size_t i = 0; i < stage_count; ++i) {
        now.stages.push_back({stage_names[i], progress.busy_seconds[i]});
    }
    return now;
}

} // namespace

void open_run(const PreparedJob& prepared, const Plan& plan, std::int64_t generation,
              const Ranks& ranks, OpenRun& open) {
    const JobFile& file = prepared.file;
    const auto sync = file.output.sync ? RowWriter::Sync::yes : RowWriter::Sync::no;
    ranks.together([&] {
        open.reader = open_rows(file.input.file, file.input.dataset, plan.io_threads);
        open.writer =
            open_output_rows(output_dataset(prepared), ranks.rank(), plan.io_threads, generation);
        open.commits =
            std::make_unique<Commits>(*open.writer,
                                      JournalWriter(journal_folder(file.output.file), generation,
                                                    "rank-" + std::to_string(ranks.rank()), sync),
                                      file.run.commit_seconds, sync);
        open.border =
            std::make_unique<BorderRows>(plan.decomposition, ranks.rank(), plan.shape.in_row_bytes);
        open.border->read_own(*open.reader);
    });
    open.border->exchange(ranks);
}

Error with_rank(const Error& error, const RankBinding& binding, const Ranks& ranks) {
    ErrorText text = error.text();
    text.where += std::string(text.where.empty() ? "" : "; ") + "rank " +
                  std::to_string(ranks.rank()) + " on " + binding.host +
                  (binding.backend == Backend::cuda ? ", GPU " + binding.device.uuid : "");
    return {error.code(), std::move(text)};
}

StreamTimes stream_with_progress(const RunCommand& command, const PreparedJob& prepared,
                                 const Plan& plan, const RankBinding& binding, const Ranks& ranks,
                                 OpenRun& open, const Stop& stop, Trace* trace) {
    StreamProgress& progress = open.progress;
    const std::int64_t rows = plan.decomposition.rows_to_do(plan.decomposition.slab(ranks.rank()));
    const Stream stream{
        plan,  prepared.stream(),  ranks.rank(), *open.reader, *open.border, *open.writer, progress,
        trace, open.commits.get(), &stop,        say};
    const bool shown = ranks.first() && !command.quiet;
    Progress view(stderr, shown ? progress_style(stderr) : ProgressStyle::silent,
                  prepared.file.name);
    const auto start = Clock::now();
    StreamTimes times;
    try {
        const Ticker ticker(
            [&] { view.update(snapshot(plan, rows, progress, seconds_since(start))); });
        times = run_stream(stream, [&] {
            return make_queue(binding.backend, binding.device.index, binding.limits.cores);
        });
    } catch (const Error& error) {
        view.clear();
        try {
            open.commits->finish();
        } catch (const std::exception&) { // the first failure is the one to tell
        }
        throw with_rank(error, binding, ranks);
    }
    view.finish(snapshot(plan, rows, progress, seconds_since(start)));
    return times;
}

std::vector<std::string> stop_files(const std::string& output) {
    const std::filesystem::path folder = std::filesystem::path(output).parent_path();
    return {(folder / "STOP").string(), stop_path(output)};
}

std::optional<Stopped> agree_on_stop(const Plan& plan, const OpenRun& open, const Stop& stop,
                                     const Ranks& ranks) {
    const Decomposition& d = plan.decomposition;
    const std::int64_t done = open.progress.rows_done;
    const bool whole = done == d.rows_to_do(d.slab(ranks.rank()));
    bool unfinished = false;
    std::string reason;
    std::int64_t rows = count_rows(d.done);
    for (const std::string& text :
         ranks.gather(std::to_string(done) + (whole ? " " : "-") + stop.reason())) {
        const std::size_t mark = text.find_first_of(" -");
        rows += std::stoll(text.substr(0, mark));
        unfinished = unfinished || text[mark] == '-';
        if (reason.empty() || reason == Stop::other_rank) {
            reason = text.substr(mark + 1);
        }
    }
    return unfinished ? std::optional(Stopped{reason, rows}) : std::nullopt;
}

} // namespace runner
