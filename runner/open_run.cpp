// SPDX-License-Identifier: BSD-3-Clause
#include "runner/open_run.hpp"

#include "base/durations.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/images/levels_ahead.hpp"
#include "io/output/journal.hpp"
#include "io/output/open_output_rows.hpp"
#include "kernels/profile/kernel_log.hpp"
#include "runner/job_file/file_names.hpp"
#include "runner/probe/served_rows.hpp"
#include "runner/watch/progress.hpp"
#include "runner/watch/ticker.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace runner {
namespace {

using Clock = std::chrono::steady_clock;

/// `log`: of the queues' launches, or null.
QueueMaker queue_maker(const RankBinding& binding, const KernelLog* log) {
    return [&binding, log] {
        Queue queue = make_queue(binding.backend, binding.device.index, binding.limits.cores);
        if (log != nullptr) {
            log->watch(queue);
        }
        return queue;
    };
}

void say_over_progress(const std::string& line) {
    (void)std::fputs((std::string(over_progress(stderr)) + printable_lines(line)).c_str(), stderr);
}

void add_stages(const RunProgress& progress, ProgressSnapshot& now) {
    for (std::size_t i = 0; i < stage_count; ++i) {
        now.stages.push_back({stage_names[i], progress.busy[i].seconds(Clock::now())});
    }
}

/// A snapshot of the engine's part so far.
ProgressSnapshot snapshot(const EngineRun& engine, const RunProgress& progress, double seconds) {
    ProgressSnapshot now = engine.snapshot();
    now.seconds = seconds;
    add_stages(progress, now);
    return now;
}

/// Opens what every engine works with. Not collective.
void open_files(const JobPlan& plan, const RunContext& context) {
    const JobFile& file = context.prepared.file;
    const RowWriter::Sync sync = context.beginning.sync;
    const std::int64_t attempt = context.beginning.attempt;
    const int rank = context.ranks.rank();
    OpenRun& open = context.open;
    open.reader = open_input_rows(context.prepared, plan.io_threads, plan.kept_lines);
    // Rows wait for those of the same chunks, and for those of the same elements of levels.
    constexpr std::int64_t most_waiting = 4 * GiB; // more would take the output's page cache
    const std::int64_t waiting = std::min((plan.host_memory - plan.need.host()) / 3, most_waiting);
    open.writer = open_output_rows(open.output, rank, plan.io_threads, attempt, waiting);
    open.levels = LevelsAhead::of(open.output, waiting, plan.io_threads);
    if (open.levels != nullptr) {
        open.writer = write_beside(std::move(open.writer), *open.levels);
    }
    open.commits =
        std::make_unique<output::Commits>(*open.writer,
                                          JournalWriter(journal_folder(file.output.file), attempt,
                                                        fmt::format("rank-{}", rank), sync),
                                          file.run.commit_seconds, sync);
}

} // namespace

std::unique_ptr<EngineRun> open_run(const JobPlan& plan, const RunContext& context) {
    std::unique_ptr<EngineRun> engine = context.ranks.together([&] {
        open_files(plan, context);
        return engine_of(*context.prepared.job).start(plan, context);
    });
    engine->exchange();
    return engine;
}

Error with_rank(const Error& error, const RankBinding& binding, const Ranks& ranks) {
    ErrorText text = error.text();
    text.where +=
        fmt::format("{}rank {} on {}{}", text.where.empty() ? "" : "; ", ranks.rank(), binding.host,
                    (binding.backend == Backend::cuda ? ", GPU " + binding.device.uuid : ""));
    return {error.code(), std::move(text)};
}

RunTimes run_engine(EngineRun& engine, const RunContext& context, const RankBinding& binding,
                    ShowProgress show, Trace* trace) {
    OpenRun& open = context.open;
    const bool shown = context.ranks.first() && show == ShowProgress::yes;
    Progress view(stderr, shown ? progress_style(stderr) : ProgressStyle::silent,
                  context.prepared.file.name);
    const auto start = Clock::now();
    const auto now = [&] { return snapshot(engine, open.progress, seconds_since(start)); };
    RunTimes times;
    try {
        const Ticker ticker([&] { view.update(now()); });
        const KernelLog log;
        times = engine.run(
            {queue_maker(binding, trace == nullptr ? nullptr : &log), trace, say_over_progress});
        if (context.stop.level() != StopLevel::drop_chunks) { // no time to wait for what is dropped
            times.kernels = log.uses();
        }
    } catch (const AgreedError&) {
        view.clear();
        throw;
    } catch (const Error& error) {
        view.clear();
        try {
            open.commits->finish();
        } catch (const std::exception&) { // the first failure is the one to tell
        }
        throw with_rank(error, binding, context.ranks);
    }
    view.finish(now());
    return times;
}

std::vector<std::string> stop_files(const PreparedJob& prepared) {
    const std::string& output = prepared.file.output.file;
    std::vector<std::string> files = {stop_beside(output)};
    if (!prepared.place.of_job.empty()) {
        files.push_back(stop_beside(prepared.place.of_job));
    }
    files.push_back(output::stop_path(output)); // last: the ranks' own
    return files;
}

} // namespace runner
