// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch.hpp"

#include "base/durations.hpp"
#include "base/error.hpp"
#include "base/sizes.hpp"
#include "io/file_lock.hpp"
#include "kernels/devices.hpp"
#include "runner/batch_plan.hpp"
#include "runner/bind_rank.hpp"
#include "runner/claim.hpp"
#include "runner/identity.hpp"
#include "runner/output_name.hpp"
#include "runner/probe.hpp"
#include "runner/run.hpp"
#include "runner/stop.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <system_error>
#include <unordered_map>
#include <utility>

#include <unistd.h>

namespace runner {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

void say(const std::string& text) { (void)std::fputs(text.c_str(), stderr); }

/// How one try at a dataset ended.
enum class Ending { done, already, failed, stopped, taken };

/// What one rank has brought about.
struct Tally {
    std::set<std::size_t> done;
    std::set<std::size_t> already; ///< found done when its lock was free
    std::vector<std::pair<std::size_t, ExitCode>> failed;
    bool stopped = false;
};

/// A batch on one rank.
class BatchRun {
  public:
    BatchRun(const BatchCommand& command, const Ranks& world, Clock::time_point start)
        : command_(command), world_(world), start_(start), settings_(settings_of(command.run)) {}

    ExitCode run() {
        JobFile job = world_.together([&] { return load_batch(); });
        binding_ = bind_rank(world_, job.run.backend);
        state_ = job.batch->state;
        stop_ = std::make_unique<Stop>(stop_files(job));
        world_.first_alone([&] { make_plan(std::move(job)); });
        share_plan();
        if (command_.dry_run) {
            return end_of_plan();
        }
        world_.first_alone([&] { check_batch_disk(plan_); });
        log_ = std::make_unique<BatchLog>(state_, binding_.host);
        world_.first_alone([&] { log_plan(); });
        for (const std::size_t index : order(true)) {
            attend(index, world_);
        }
        const Ranks alone{Ranks::Alone{}};
        for (const std::size_t index : order(false)) {
            attend(index, alone);
        }
        return finish();
    }

  private:
    JobFile load_batch() const {
        JobFile job = load_job_file(command_.run.job, settings_);
        if (!job.batch) {
            throw Error(ExitCode::usage,
                        {"the job is of one dataset", job.path, "it has no table [batch]",
                         "Run it with `runner " + job.path + "`, or add [batch] (docs/batch.md)"});
        }
        return job;
    }

    /// What asks to stop between datasets. The last is only for the ranks of this batch.
    std::vector<std::string> stop_files(const JobFile& job) const {
        const std::string own = world_.broadcast(binding_.host + "-" + std::to_string(::getpid()));
        return {(fs::path(state_) / "STOP").string(),
                (fs::path(common_folder(job.batch->output.text)) / "STOP").string(),
                (fs::path(state_) / ("stop-" + own)).string()};
    }

    bool is_to_stop() {
        if (command_.run.max_seconds && seconds_since(start_) + 1 > *command_.run.max_seconds) {
            stop_->ask("--max-time");
        }
        stop_->look();
        return stop_->level() != StopLevel::none;
    }

    void make_plan(JobFile job) {
        const BatchHistory history = read_history(state_);
        const BatchMeans means{binding_.backend, binding_.limits, world_.size()};
        plan_ = plan_batch(std::move(job), settings_, history, means, prober_,
                           [&](std::size_t /*looked_at*/) { end_planning_if_asked(); });
        for (std::size_t i = 0; i < plan_.datasets.size(); ++i) {
            const auto found = history.last.find(plan_.datasets[i].dataset.output);
            if (found != history.last.end() && found->second.what != DatasetEvent::What::done &&
                found->second.what != DatasetEvent::What::stopped) {
                troubled_.insert(i); // it failed, or a run of it ended without a word
            }
        }
        if (!command_.run.quiet && !command_.dry_run) {
            say(batch_plan_text(plan_));
        }
    }

    void end_planning_if_asked() {
        if (is_to_stop()) {
            throw Error(ExitCode::stopped, {"stopped while the datasets were looked at",
                                            stop_->reason(), "", "The same command goes on"});
        }
    }

    /// Gives the other ranks what the first has found out; the list itself each makes alike.
    void share_plan() {
        std::string text;
        for (std::size_t i = 0; i < plan_.datasets.size(); ++i) {
            const PlannedDataset& planned = plan_.datasets[i];
            text += std::to_string(static_cast<int>(planned.fate)) + " " +
                    std::to_string(planned.input.bytes) + " " +
                    std::to_string(planned.input.modified) + " " +
                    std::to_string(planned.listed.bytes) + " " +
                    (planned.needs_all_ranks ? "1 " : "0 ") +
                    (troubled_.contains(i) ? "1 " : "0 ") + planned.listed.key + "\n";
        }
        text = world_.broadcast(text);
        if (world_.first()) {
            world_.agree(std::nullopt);
            return;
        }
        std::optional<Error> failure;
        try {
            take_plan(text);
        } catch (const Error& error) {
            failure = error;
        }
        world_.agree(failure);
    }

    void take_plan(const std::string& text) {
        plan_.job = load_batch();
        plan_.settings = settings_;
        std::istringstream lines(text);
        for (BatchDataset& dataset : list_datasets(plan_.job)) {
            PlannedDataset planned;
            int fate = 0;
            bool troubled = false;
            lines >> fate >> planned.input.bytes >> planned.input.modified >>
                planned.listed.bytes >> planned.needs_all_ranks >> troubled >> planned.listed.key;
            planned.fate = static_cast<Fate>(fate);
            planned.dataset = std::move(dataset);
            if (troubled) {
                troubled_.insert(plan_.datasets.size());
            }
            plan_.datasets.push_back(std::move(planned));
        }
        std::string more;
        if (!lines || lines >> more) {
            throw Error(ExitCode::launch,
                        {"the ranks see different datasets", plan_.job.path,
                         "the folders of the inputs change, or are not the same on every host",
                         "Start again when nothing writes there, or use a manifest"});
        }
    }

    /// Of `--dry-run`: the plan, and the code of the first dataset that cannot be run.
    ExitCode end_of_plan() const {
        if (world_.first()) {
            (void)std::fputs(batch_plan_text(plan_).c_str(), stdout);
        }
        for (const PlannedDataset& planned : plan_.datasets) {
            if (planned.fate == Fate::refused) {
                return planned.code;
            }
        }
        return ExitCode::ok;
    }

    /// The state folder is made to say what the plan has found.
    void log_plan() {
        const std::unordered_map<std::string, ListedDataset> before = listed_before();
        DatasetList list{plan_.job.name, plan_.job.kind, {}};
        for (const PlannedDataset& planned : plan_.datasets) {
            list.datasets.push_back(planned.listed);
            const auto known = before.find(planned.dataset.output);
            if (planned.fate == Fate::done && planned.identity.empty() && known != before.end()) {
                // It was not looked at again.
                list.datasets.back().bytes = known->second.bytes;
                list.datasets.back().rows = known->second.rows;
            }
        }
        write_list(state_, list);
        for (std::size_t i = 0; i < plan_.datasets.size(); ++i) {
            const PlannedDataset& planned = plan_.datasets[i];
            if (planned.fate == Fate::refused) {
                log_failure(planned, planned.code, planned.reason);
                tally_.failed.emplace_back(i, planned.code);
                if (command_.run.quiet) { // else it stands in the plan
                    tell_error(planned.reason);
                }
            } else if (planned.fate == Fate::done && !planned.identity.empty()) {
                log_done(planned, planned.identity, planned.input, 0);
            }
        }
    }

    /// The datasets of the list that is there, by output; none where it cannot be read.
    std::unordered_map<std::string, ListedDataset> listed_before() const {
        std::unordered_map<std::string, ListedDataset> all;
        try {
            for (ListedDataset& dataset : read_list(state_).datasets) {
                std::string output = dataset.output;
                all.emplace(std::move(output), std::move(dataset));
            }
        } catch (const Error&) { // it is made anew
        }
        return all;
    }

    void log_failure(const PlannedDataset& planned, ExitCode code, const std::string& reason) {
        DatasetEvent event;
        event.what = DatasetEvent::What::failed;
        event.code = code;
        event.reason = reason;
        log_->add(planned.dataset.output, std::move(event));
    }

    void log_done(const PlannedDataset& planned, const std::string& identity, const FileMark& input,
                  double seconds) {
        DatasetEvent event;
        event.what = DatasetEvent::What::done;
        event.seconds = seconds;
        event.key = planned.listed.key;
        event.identity = identity;
        event.input = input;
        event.output = mark_of(planned.dataset.output);
        log_->add(planned.dataset.output, std::move(event));
    }

    void log_plain(const PlannedDataset& planned, DatasetEvent::What what) {
        DatasetEvent event;
        event.what = what;
        log_->add(planned.dataset.output, std::move(event));
    }

    /// The datasets to run on all ranks together, or side by side; the large ones first. One that
    /// ended badly before is run by one rank, at the end: on all it could end the whole batch.
    std::vector<std::size_t> order(bool shared) const {
        constexpr std::int64_t least_shared_bytes = 16 * MiB;
        constexpr std::int64_t parts = 8; // of a rank's fair share
        std::int64_t total = 0;
        for (const PlannedDataset& planned : plan_.datasets) {
            total += is_to_run(planned) ? planned.listed.bytes : 0;
        }
        const std::int64_t large = std::max(least_shared_bytes, total / (parts * world_.size()));
        std::vector<std::size_t> chosen;
        for (std::size_t i = 0; i < plan_.datasets.size(); ++i) {
            const PlannedDataset& planned = plan_.datasets[i];
            const bool on_all =
                world_.size() > 1 && (planned.needs_all_ranks ||
                                      (planned.listed.bytes > large && !troubled_.contains(i)));
            if (is_to_run(planned) && on_all == shared) {
                chosen.push_back(i);
            }
        }
        std::stable_sort(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
            const auto rank = [&](std::size_t i) {
                return std::pair(troubled_.contains(i),
                                 world_.size() > 1 ? -plan_.datasets[i].listed.bytes : 0);
            };
            return rank(a) < rank(b);
        });
        return chosen;
    }

    static bool is_to_run(const PlannedDataset& planned) {
        return planned.fate == Fate::to_do || planned.fate == Fate::redo;
    }

    /// One dataset with its failure caught and told; nothing once the batch is to stop.
    void attend(std::size_t index, const Ranks& ranks) {
        if (ranks.least(tally_.stopped || is_to_stop() ? 0 : 1) == 0) {
            tally_.stopped = true;
            return;
        }
        const PlannedDataset& planned = plan_.datasets[index];
        const auto begin = Clock::now();
        Ending ending = Ending::failed;
        std::optional<Error> failure;
        try {
            ending = attempt(planned, ranks);
        } catch (const AgreedError& error) {
            failure = error;
        } catch (const Error& error) {
            if (ranks.first() || ranks.size() > 1) {
                log_failure(planned, error.code(), error.what());
            }
            if (ranks.size() > 1 || device_lost()) {
                throw; // the other ranks wait for this one, or nothing more can be run here
            }
            failure = error;
        } catch (const std::bad_alloc&) {
            if (ranks.size() > 1) {
                throw;
            }
            failure = out_of_host_memory();
        }
        if (failure && ranks.first()) {
            log_failure(planned, failure->code(), failure->what());
            tally_.failed.emplace_back(index, failure->code());
            tell_error(failure->what());
        }
        note(index, ending, ranks, seconds_since(begin));
    }

    void note(std::size_t index, Ending ending, const Ranks& ranks, double seconds) {
        const PlannedDataset& planned = plan_.datasets[index];
        if (ending == Ending::stopped) {
            tally_.stopped = true;
            if (ranks.first()) {
                log_plain(planned, DatasetEvent::What::stopped);
            }
        } else if (ending == Ending::already) {
            tally_.already.insert(index);
        } else if (ending == Ending::done && ranks.first()) {
            tally_.done.insert(index);
            if (!command_.run.quiet) {
                say("[" + std::to_string(index + 1) + "/" + std::to_string(plan_.datasets.size()) +
                    "] " + planned.dataset.output + ": done in " + duration_text(seconds) + "\n");
            }
        }
    }

    /// Locks the output, looks again, and runs the job unless somebody else does or has.
    Ending attempt(const PlannedDataset& planned, const Ranks& ranks) {
        const auto begin = Clock::now();
        const BatchDataset& dataset = planned.dataset;
        std::unique_ptr<FileLock> lock;
        FileMark input;
        ranks.first_alone([&] {
            lock = take_lock(dataset.output);
            input = mark_of(dataset.input);
            if (lock && input != planned.input) {
                probe_inputs(job_for(dataset, plan_.job, settings_), prober_);
            }
        });
        if (ranks.least(!ranks.first() || lock ? 1 : 0) == 0) {
            return Ending::taken;
        }
        PreparedJob prepared =
            ranks.together([&] { return prepare_job(job_for(dataset, plan_.job, settings_)); });
        std::string identity;
        Standing standing = Standing::nothing;
        std::string choices;
        ranks.first_alone([&] {
            identity = job_identity(prepared);
            standing = look_under_lock(prepared, identity);
            choices = standing == Standing::done      ? "done"
                      : parts_fit(prepared, identity) ? "go on"
                                                      : "anew";
        });
        choices = ranks.broadcast(choices);
        if (choices == "done") {
            ranks.first_alone([&] { release_output(prepared); });
            return Ending::already;
        }
        if (standing == Standing::stale) { // known to the first rank, which gives the name
            prepared.file.output.overwrite = true;
        }
        if (choices == "anew") {
            prepared.file.run.resume = ResumeChoice::never;
        }
        ranks.first_alone([&] {
            check_output(prepared);
            log_plain(planned, DatasetEvent::What::started);
        });
        const ExitCode code = run_claimed(run_command(dataset), prepared, binding_, ranks, start_);
        if (code == ExitCode::stopped) {
            return Ending::stopped;
        }
        ranks.first_alone(
            [&] { log_done(planned, checksum_text(identity), input, seconds_since(begin)); });
        return Ending::done;
    }

    /// With the folder made; nothing where another process has the output.
    std::unique_ptr<FileLock> take_lock(const std::string& output) const {
        const fs::path folder = fs::path(output).parent_path();
        std::error_code failure;
        if (!folder.empty()) {
            fs::create_directories(folder, failure);
        }
        if (failure) {
            throw Error(ExitCode::output, {"cannot make the output's folder", folder.string(),
                                           failure.message(), ""});
        }
        try {
            return std::make_unique<FileLock>(lock_path(output), owner_text(binding_.host));
        } catch (const LockHeld&) {
            return nullptr;
        }
    }

    /// Another process may have made the output since it was planned.
    Standing look_under_lock(const PreparedJob& prepared, const std::string& identity) {
        DatasetEvents last;
        const std::string& output = prepared.file.output.file;
        if (output.ends_with(".sand") && mark_of(output).bytes >= 0) {
            last = read_history(state_).last;
        }
        const auto known = last.find(output);
        const OutputStanding found = output_standing(
            prepared, identity, known == last.end() ? nullptr : &known->second, prober_);
        if (found.standing == Standing::foreign && !prepared.file.output.overwrite) {
            throw Error(ExitCode::output, {"the output is already there", output, found.why,
                                           "Set output.overwrite = true, or another batch.output"});
        }
        return found.standing;
    }

    /// The command that would run this dataset by itself, quietly.
    RunCommand run_command(const BatchDataset& dataset) const {
        RunCommand command = command_.run;
        command.settings = settings_for(dataset, settings_);
        command.backend.reset(); // among the settings
        command.resume.reset();
        command.quiet = true;
        return command;
    }

    /// All ranks' results; tells them and says what they come to. Collective.
    ExitCode finish() {
        std::string text = tally_.stopped ? "1" : "0";
        for (const std::size_t index : tally_.done) {
            text += " d " + std::to_string(index);
        }
        for (const auto& [index, code] : tally_.failed) {
            text += " f " + std::to_string(index) + " " + std::to_string(static_cast<int>(code));
        }
        for (const std::size_t index : tally_.already) {
            text += " a " + std::to_string(index);
        }
        Tally all;
        for (const std::string& part : world_.gather(text)) {
            take_tally(part, all);
        }
        if (world_.first()) {
            std::error_code ignored;
            (void)fs::remove(own_stop_file(), ignored);
            tell(all);
        }
        if (all.stopped) {
            return ExitCode::stopped;
        }
        return all.failed.empty() ? ExitCode::ok
                                  : std::min_element(all.failed.begin(), all.failed.end())->second;
    }

    std::string own_stop_file() const {
        return (fs::path(state_) / ("stop-" + binding_.host + "-" + std::to_string(::getpid())))
            .string();
    }

    static void take_tally(const std::string& text, Tally& all) {
        std::istringstream words(text);
        bool stopped = false;
        words >> stopped;
        all.stopped = all.stopped || stopped;
        char what = 0;
        for (std::size_t index = 0; words >> what >> index;) {
            int code = 0;
            if (what == 'f' && words >> code) {
                all.failed.emplace_back(index, static_cast<ExitCode>(code));
            } else if (what == 'd') {
                all.done.insert(index);
            } else {
                all.already.insert(index);
            }
        }
    }

    void tell(const Tally& all) const {
        std::set<std::size_t> settled = all.done;
        settled.insert(all.already.begin(), all.already.end());
        for (const auto& [index, code] : all.failed) {
            settled.insert(index);
        }
        const auto left = static_cast<std::int64_t>(plan_.datasets.size() - settled.size()) -
                          plan_.count(Fate::done);
        const std::string reason = stop_->reason();
        if (!command_.run.quiet || all.stopped) {
            say(plan_.job.name + ": " + std::to_string(all.done.size()) + " done, " +
                std::to_string(all.failed.size()) + " failed" +
                (left == 0 ? ""
                           : ", " + std::to_string(left) +
                                 (all.stopped ? " left" : " in the hands of another batch")) +
                (all.stopped ? "; stopped by " + (reason.empty() ? "request" : reason) +
                                   ": the same command goes on"
                             : ", in " + duration_text(seconds_since(start_))) +
                "\n");
        }
        if (!all.failed.empty()) {
            say("  `runner status " + state_ + "` lists what failed\n");
        }
    }

    const BatchCommand& command_;
    const Ranks& world_;
    Clock::time_point start_;
    std::vector<std::string> settings_;
    RankBinding binding_;
    std::string state_;
    std::unique_ptr<Stop> stop_;
    Prober prober_;
    BatchPlan plan_;                 ///< of ranks but the first without lists and reasons
    std::set<std::size_t> troubled_; ///< datasets that ended badly in an earlier batch
    std::unique_ptr<BatchLog> log_;
    Tally tally_;
};

} // namespace

ExitCode run_batch_on_all_ranks(const BatchCommand& command, Clock::time_point start) {
    return on_all_ranks(command.run.backend.value_or(BackendChoice::automatic),
                        [&](const Ranks& ranks) { return BatchRun(command, ranks, start).run(); });
}

} // namespace runner
