// SPDX-License-Identifier: BSD-3-Clause
#include "runner/open_run.hpp"

#include "base/error.hpp"
#include "base/printable.hpp"
#include "io/output/journal.hpp"
#include "io/output/open_output_rows.hpp"
#include "runner/engines/evolve_engine.hpp"
#include "runner/engines/permute_engine.hpp"
#include "runner/probe/input_rows.hpp"
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

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

QueueMaker queue_maker(const RankBinding& binding) {
    return [&binding] {
        return make_queue(binding.backend, binding.device.index, binding.limits.cores);
    };
}

void say(const std::string& line) {
    (void)std::fputs((std::string(over_progress(stderr)) + printable_lines(line)).c_str(), stderr);
}

void add_stages(const RunProgress& progress, ProgressSnapshot& now) {
    for (std::size_t i = 0; i < stage_count; ++i) {
        now.stages.push_back({stage_names[i], progress.busy[i].seconds(Clock::now())});
    }
}

ProgressSnapshot snapshot(const Plan& plan, std::int64_t rows, const RunProgress& progress,
                          double seconds) {
    ProgressSnapshot now;
    now.rows_done = progress.rows_in_work(Clock::now());
    now.rows_total = rows;
    // The first rank's slab stands for all: the others have as many rows.
    now.amount_done = now.rows_done * plan.decomposition.ranks * plan.bytes_a_row();
    now.seconds = seconds;
    add_stages(progress, now);
    return now;
}

ProgressSnapshot snapshot(const PermutePlan& plan, std::int64_t rows, const RunProgress& progress,
                          double seconds) {
    ProgressSnapshot now;
    now.rows_done = static_cast<double>(progress.rows_done);
    now.rows_total = rows;
    now.amount_done = now.rows_done * static_cast<double>(2 * plan.grid.output()[2] *
                                                          plan.shape.element_bytes * plan.ranks);
    now.seconds = seconds;
    add_stages(progress, now);
    return now;
}

ProgressSnapshot snapshot(const EvolvePlan& plan, std::int64_t before, const RunProgress& progress,
                          double seconds) {
    ProgressSnapshot now;
    now.rows_done = static_cast<double>(std::max<std::int64_t>(0, progress.rows_done - before));
    now.rows_total = plan.shape.snapshots.generations - before;
    now.amount_done = now.rows_done * static_cast<double>(plan.shape.cells);
    now.unit = "cells";
    now.seconds = seconds;
    add_stages(progress, now);
    return now;
}

/// Opens what both engines work with. Not collective.
void open_files(const PreparedJob& prepared, int io_threads, std::int64_t generation, int rank,
                OpenRun& open) {
    const JobFile& file = prepared.file;
    const auto sync = prepared.parts_sync();
    open.reader = open_input_rows(prepared, io_threads);
    open.writer = open_output_rows(output_dataset(prepared), rank, io_threads, generation);
    open.commits =
        std::make_unique<Commits>(*open.writer,
                                  JournalWriter(journal_folder(file.output.file), generation,
                                                "rank-" + std::to_string(rank), sync),
                                  file.run.commit_seconds, sync);
}

/// Whether all ranks have made all their rows; how many there are of the whole output if not.
std::optional<Stopped> agree_on_rows(std::int64_t to_do, std::int64_t before, std::int64_t total,
                                     const OpenRun& open, const Stop& stop, const Ranks& ranks) {
    const std::int64_t done = open.progress.rows_done;
    bool unfinished = false;
    std::string reason;
    std::int64_t rows = before;
    for (const std::string& text :
         ranks.gather(std::to_string(done) + (done == to_do ? " " : "-") + stop.reason())) {
        const std::size_t mark = text.find_first_of(" -");
        rows += std::stoll(text.substr(0, mark));
        unfinished = unfinished || text[mark] == '-';
        if (reason.empty() || reason == Stop::other_rank) {
            reason = text.substr(mark + 1);
        }
    }
    if (!unfinished) {
        return std::nullopt;
    }
    return Stopped{reason, std::to_string(rows) + " of " + std::to_string(total) + " rows of "};
}

/// Does the engine's work while the first rank shows how far it is: `look(seconds)`.
template <class Look, class Work>
RunTimes with_progress(const RunCommand& command, const PreparedJob& prepared,
                       const RankBinding& binding, const Ranks& ranks, OpenRun& open,
                       const Look& look, const Work& work) {
    const bool shown = ranks.first() && !command.quiet;
    Progress view(stderr, shown ? progress_style(stderr) : ProgressStyle::silent,
                  prepared.file.name);
    const auto start = Clock::now();
    RunTimes times;
    try {
        const Ticker ticker([&] { view.update(look(seconds_since(start))); });
        times = work();
    } catch (const AgreedError&) {
        view.clear();
        throw;
    } catch (const Error& error) {
        view.clear();
        try {
            open.commits->finish();
        } catch (const std::exception&) { // the first failure is the one to tell
        }
        throw with_rank(error, binding, ranks);
    }
    view.finish(look(seconds_since(start)));
    return times;
}

} // namespace

void open_run(const PreparedJob& prepared, const Plan& plan, const Beginning& beginning,
              const Ranks& ranks, OpenRun& open) {
    ranks.together([&] {
        open_files(prepared, plan.io_threads, beginning.generation, ranks.rank(), open);
        open.border =
            std::make_unique<BorderRows>(plan.decomposition, ranks.rank(), plan.shape.in_row_bytes);
        open.border->read_own(*open.reader);
    });
    open.border->exchange(ranks);
}

void open_run(const PreparedJob& prepared, const EvolvePlan& plan, const Beginning& beginning,
              const Ranks& ranks, OpenRun& open) {
    ranks.together(
        [&] { open_files(prepared, plan.io_threads, beginning.generation, ranks.rank(), open); });
}

void open_run(const PreparedJob& prepared, const PermutePlan& plan, const Beginning& beginning,
              const Ranks& ranks, OpenRun& open) {
    ranks.together(
        [&] { open_files(prepared, plan.io_threads, beginning.generation, ranks.rank(), open); });
}

Error with_rank(const Error& error, const RankBinding& binding, const Ranks& ranks) {
    ErrorText text = error.text();
    text.where += std::string(text.where.empty() ? "" : "; ") + "rank " +
                  std::to_string(ranks.rank()) + " on " + binding.host +
                  (binding.backend == Backend::cuda ? ", GPU " + binding.device.uuid : "");
    return {error.code(), std::move(text)};
}

RunTimes run_engine(const RunCommand& command, const PreparedJob& prepared, const Plan& plan,
                    const RankBinding& binding, const Ranks& ranks, const Beginning& /*beginning*/,
                    OpenRun& open, const Stop& stop, Trace* trace) {
    const std::int64_t rows = plan.decomposition.rows_to_do(plan.decomposition.slab(ranks.rank()));
    const Stream stream{
        plan,         *prepared.stream(), ranks.rank(), *open.reader,       *open.border,
        *open.writer, open.progress,      trace,        open.commits.get(), &stop,
        say};
    return with_progress(
        command, prepared, binding, ranks, open,
        [&](double seconds) { return snapshot(plan, rows, open.progress, seconds); },
        [&] { return run_stream(stream, queue_maker(binding)); });
}

RunTimes run_engine(const RunCommand& command, const PreparedJob& prepared, const EvolvePlan& plan,
                    const RankBinding& binding, const Ranks& ranks, const Beginning& beginning,
                    OpenRun& open, const Stop& stop, Trace* trace) {
    const JobFile& file = prepared.file;
    const Evolution evolution{plan,
                              *prepared.evolve(),
                              ranks,
                              *open.reader,
                              *open.writer,
                              *open.commits,
                              open.progress,
                              trace,
                              stop,
                              file.run.halo_exchange,
                              journal_folder(file.output.file),
                              beginning.checkpoint,
                              file.run.commit_seconds,
                              prepared.parts_sync(),
                              say};
    const std::uint64_t first = plan.shape.snapshots.first;
    const auto before = static_cast<std::int64_t>(beginning.checkpoint.value_or(first) - first);
    return with_progress(
        command, prepared, binding, ranks, open,
        [&](double seconds) { return snapshot(plan, before, open.progress, seconds); },
        [&] { return run_evolution(evolution, queue_maker(binding)); });
}

RunTimes run_engine(const RunCommand& command, const PreparedJob& prepared, const PermutePlan& plan,
                    const RankBinding& binding, const Ranks& ranks, const Beginning& /*beginning*/,
                    OpenRun& open, const Stop& stop, Trace* trace) {
    const std::int64_t rows = plan.rows_to_do(plan.boxes(ranks.rank()));
    const Permutation permutation{
        plan,  *prepared.permute(), ranks.rank(), *open.reader, *open.writer, open.progress,
        trace, *open.commits,       &stop,        say};
    return with_progress(
        command, prepared, binding, ranks, open,
        [&](double seconds) { return snapshot(plan, rows, open.progress, seconds); },
        [&] { return run_permutation(permutation, queue_maker(binding)); });
}

std::vector<std::string> stop_files(const std::string& output) {
    const std::filesystem::path folder = std::filesystem::path(output).parent_path();
    return {(folder / "STOP").string(), stop_path(output)};
}

std::optional<Stopped> agree_on_stop(const Plan& plan, const OpenRun& open, const Stop& stop,
                                     const Ranks& ranks) {
    const Decomposition& d = plan.decomposition;
    return agree_on_rows(d.rows_to_do(d.slab(ranks.rank())), count_rows(d.done), d.total_rows(),
                         open, stop, ranks);
}

std::optional<Stopped> agree_on_stop(const PermutePlan& plan, const OpenRun& open, const Stop& stop,
                                     const Ranks& ranks) {
    return agree_on_rows(plan.rows_to_do(plan.boxes(ranks.rank())), count_rows(plan.done),
                         plan.total_rows(), open, stop, ranks);
}

std::optional<Stopped> agree_on_stop(const EvolvePlan& plan, const OpenRun& open, const Stop& stop,
                                     const Ranks& ranks) {
    const Snapshots& snapshots = plan.shape.snapshots;
    std::string reason;
    for (const std::string& text : ranks.gather(stop.reason())) {
        if (reason.empty() || reason == Stop::other_rank) {
            reason = text;
        }
    }
    // All ranks stop at one generation.
    if (open.progress.rows_done == snapshots.generations) {
        return std::nullopt;
    }
    return Stopped{reason, std::to_string(open.progress.rows_done) + " of " +
                               std::to_string(snapshots.generations) + " generations of "};
}

} // namespace runner
