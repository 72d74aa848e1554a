// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch/batch.hpp"

#include "base/durations.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"
#include "kernels/queue/devices.hpp"
#include "runner/batch/batch_exchange.hpp"
#include "runner/batch/batch_order.hpp"
#include "runner/batch/batch_plan.hpp"
#include "runner/batch/batch_record.hpp"
#include "runner/batch/batch_tally.hpp"
#include "runner/batch/batch_worker.hpp"
#include "runner/job_file/job_text.hpp"
#include "runner/job_file/output_name.hpp"
#include "runner/launch.hpp"
#include "runner/messages.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/watch/stop.hpp"

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

namespace runner::batch {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// A batch on one rank.
class BatchRun {
  public:
    BatchRun(const Command& command, const Ranks& world, Clock::time_point start)
        : command_(command), world_(world), start_(start), settings_(settings_of(command.run)) {}

    ExitCode run() {
        world_.first_alone([&] { text_ = read_job_text(command_.run.job); });
        text_ = world_.broadcast(text_);
        JobFile job = world_.together([&] {
            JobFile loaded = parse_batch();
            world_.standing().stall_seconds = loaded.run.stall_seconds;
            return loaded;
        });
        world_.note("inspecting the datasets of the batch");
        binding_ = bind_rank(world_, job.run.backend);
        state_ = job.batch->state;
        own_stop_file_ = (fs::path(state_) / ("stop-" + world_.broadcast(own_mark()))).string();
        stop_.emplace(
            std::vector{
                (fs::path(state_) / "STOP").string(),
                (fs::path(common_folder(job.batch->output.text)) / "STOP").string(),
                own_stop_file_, // between the ranks of this batch
            },
            world_.size());
        // On every rank before anything is recorded: what is added from here on is news.
        history_.emplace(world_.together([&] { return HistoryReader(state_); }));
        list(std::move(job));
        look();
        if (command_.dry_run) {
            return end_of_plan();
        }
        world_.first_alone([&] { check_disk(plan_); });
        run_datasets();
        return finish();
    }

  private:
    JobFile parse_batch() const {
        JobFile job = parse_job_text(text_, command_.run.job, settings_);
        if (!job.batch) {
            throw Error(ExitCode::usage,
                        {"the job is of one dataset", job.path, "it has no table [batch]",
                         "Run it with `runner " + shell_word(job.path) +
                             "`, or add [batch] (docs/batch.md)"});
        }
        return job;
    }

    std::string own_mark() const { return fmt::format("{}-{}", binding_.host, ::getpid()); }

    bool is_to_stop() {
        if (command_.run.max_seconds && seconds_since(start_) + 1 > *command_.run.max_seconds) {
            stop_->ask("--max-time");
        }
        stop_->look();
        return stop_->level() != StopLevel::none;
    }

    /// The first rank's list, on all.
    void list(JobFile job) {
        world_.first_alone([&] {
            plan_ = list_batch(std::move(job), settings_, history_->history(),
                               [&] { end_planning_if_asked(); });
            if (!plan_.note.empty()) {
                tell_warning(plan_.note);
            }
        });
        const std::vector<ListedState> list = world_.broadcast(listed_states(plan_));
        world_.together([&] {
            if (!world_.first()) {
                plan_ = plan_of_list(list, parse_batch(), settings_);
            }
        });
    }

    /// Each rank inspects its share of the datasets and sends the others what it found.
    void look() {
        const std::vector<std::size_t> places =
            unknown_datasets(plan_, {static_cast<std::size_t>(world_.rank()),
                                     static_cast<std::size_t>(world_.size())});
        world_.together([&] {
            look_at_datasets(plan_, places,
                             {binding_.backend, binding_.least_limits, world_.size()}, prober_,
                             [&] { end_planning_if_asked(); });
        });
        for (const auto& findings : world_.gather(dataset_findings(plan_, places))) {
            take_findings(plan_, findings);
        }
        if (world_.first() && !command_.run.quiet && !command_.dry_run) {
            say(batch_plan_text(plan_));
        }
    }

    void end_planning_if_asked() {
        if (is_to_stop()) {
            throw Error(ExitCode::stopped,
                        {"stopped while the datasets were inspected", stop_->reason(), "",
                         "The same command resumes the batch"});
        }
    }

    /// The end of `--dry-run`: the plan, and the code of the first dataset that cannot be run.
    ExitCode end_of_plan() const {
        if (world_.first()) {
            (void)std::fputs(printable_lines(batch_plan_text(plan_)).c_str(), stdout);
        }
        for (const PlannedDataset& planned : plan_.datasets) {
            if (planned.fate == Fate::refused) {
                return planned.code;
            }
        }
        return ExitCode::ok;
    }

    void run_datasets() {
        Record record(state_, binding_.host);
        Worker worker(command_.run, plan_, binding_, std::move(*history_), record, prober_, start_);
        world_.first_alone([&] { put_plan_down(record); });
        const Order order = batch_order(plan_, world_.size());
        for (const std::size_t index : order.together) {
            attend(index, world_, worker, record);
        }
        const Ranks alone{Ranks::Alone{}, world_};
        for (const std::size_t index : order.side_by_side) {
            attend(index, alone, worker, record);
        }
    }

    void put_plan_down(Record& record) {
        record.plan(plan_);
        for (std::size_t i = 0; i < plan_.datasets.size(); ++i) {
            const PlannedDataset& planned = plan_.datasets[i];
            if (planned.fate == Fate::refused) {
                tally_.failed.emplace(i, planned.code);
                if (command_.run.quiet) { // else it stands in the plan
                    tell_error(planned.reason);
                }
            }
        }
    }

    /// One dataset with its failure caught and told; nothing once the batch is to stop.
    void attend(std::size_t index, const Ranks& ranks, Worker& worker, Record& record) {
        if (ranks.least(tally_.stopped || is_to_stop() ? 0 : 1) == 0) {
            tally_.stopped = true;
            return;
        }
        const PlannedDataset& planned = plan_.datasets[index];
        const auto begin = Clock::now();
        std::optional<Error> failure;
        try {
            const DatasetEnding ending = worker.work_on(planned, ranks);
            if (ending == DatasetEnding::failed_elsewhere && ranks.first()) {
                tally_.failed.emplace(index, worker.news(planned)->code);
            }
            note(index, ending, ranks, record, seconds_since(begin));
        } catch (const AgreedError& error) {
            failure = error;
        } catch (const Error& error) {
            if (ranks.size() > 1 || device_lost()) {
                record.failed(planned, error.code(), error.what());
                throw; // the other ranks wait for this one, or nothing more can be run here
            }
            failure = error;
        } catch (const std::exception& error) {
            failure = system_failure(error);
            if (ranks.size() > 1 || !failure) {
                throw;
            }
        }
        if (failure && failure->code() == ExitCode::stopped) {
            return note(index, DatasetEnding::stopped, ranks, record, seconds_since(begin));
        }
        if (failure && ranks.first()) {
            record.failed(planned, failure->code(), failure->what());
            tally_.failed.emplace(index, failure->code());
            tell_error(failure->what());
        }
    }

    void note(std::size_t index, DatasetEnding ending, const Ranks& ranks, Record& record,
              double seconds) {
        const PlannedDataset& planned = plan_.datasets[index];
        if (ending == DatasetEnding::stopped) {
            tally_.stopped = true;
            if (ranks.first()) {
                record.stopped(planned);
            }
        } else if (ending == DatasetEnding::already) {
            tally_.already.insert(index);
        } else if (ending == DatasetEnding::done && ranks.first()) {
            tally_.done.insert(index);
            if (!command_.run.quiet) {
                say(fmt::format("[{}/{}] {}: done in {}\n", index + 1, plan_.datasets.size(),
                                printable(planned.dataset.output), duration_text(seconds)));
            }
        }
    }

    /// All ranks' results; tells them and says what they come to. Collective.
    ExitCode finish() {
        world_.note("waiting for the other ranks of the batch");
        Tally all;
        for (const Tally& tally : world_.gather(tally_)) {
            all.add(tally);
        }
        if (world_.first()) {
            std::error_code ignored;
            (void)fs::remove(own_stop_file_, ignored);
            tell(all);
        }
        return all.code();
    }

    void tell(const Tally& all) const {
        const auto left = static_cast<std::int64_t>(plan_.datasets.size()) - all.settled() -
                          plan_.count(Fate::done);
        const std::string reason = stop_->reason();
        const std::string in_all =
            fmt::format("; {} of {} in all are done\n", plan_.count(Fate::done) + all.finished(),
                        plan_.datasets.size());
        if (!command_.run.quiet || all.stopped) {
            say(fmt::format(
                "{}: {} done, {} failed{}{}{}", printable(plan_.job.name), all.done.size(),
                all.failed.size(),
                (left == 0 ? ""
                           : ", " + std::to_string(left) +
                                 (all.stopped ? " left" : " in the hands of another batch")),
                (all.stopped ? "; stopped by " + (reason.empty() ? "request" : printable(reason)) +
                                   ": the same command resumes the batch"
                             : ", in " + duration_text(seconds_since(start_))),
                in_all));
        }
        if (!all.failed.empty()) {
            say("  `runner status " + printable(shell_word(state_)) + "` lists what failed\n");
        }
    }

    const Command& command_;
    const Ranks& world_;
    Clock::time_point start_;
    std::vector<std::string> settings_;
    std::string text_; ///< of the job file, which the first rank reads
    RankBinding binding_;
    std::string state_;
    std::string own_stop_file_;
    std::optional<Stop> stop_;
    Prober prober_;
    std::optional<HistoryReader> history_; ///< until the worker takes it
    Plan plan_;
    Tally tally_;
};

} // namespace

ExitCode run_on_all_ranks(const Command& command, Clock::time_point start) {
    return on_all_ranks(command.run.backend.value_or(BackendChoice::automatic),
                        [&](const Ranks& ranks) { return BatchRun(command, ranks, start).run(); });
}

} // namespace runner::batch
