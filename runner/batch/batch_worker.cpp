// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch/batch_worker.hpp"

#include "base/durations.hpp"
#include "io/formats/slice_names.hpp"
#include "io/input/stack.hpp"
#include "runner/output/identity.hpp"
#include "runner/output/read_files.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/ranks/prepare_on_all.hpp"
#include "runner/run.hpp"
#include "runner/run_passes.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace runner::batch {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

void make_folder_of(const std::string& output) {
    const fs::path folder = fs::path(output).parent_path();
    std::error_code failure;
    if (!folder.empty()) {
        fs::create_directories(folder, failure);
    }
    if (failure) {
        throw Error(ExitCode::output,
                    {"cannot make the output's folder", folder.string(), failure.message(), ""});
    }
}

/// The first rank's value of an enumeration, on every rank.
template <class Choice> Choice shared(Choice choice, const Ranks& ranks) {
    return static_cast<Choice>(ranks.least(ranks.first() ? static_cast<int>(choice) : 255));
}

} // namespace

Worker::Worker(const RunCommand& command, const Plan& plan, const RankBinding& binding,
               HistoryReader history, Record& record, Prober& prober, Clock::time_point start)
    : command_(command), plan_(plan), binding_(binding), record_(record), prober_(prober),
      start_(start), history_(std::move(history)) {}

DatasetEnding Worker::work_on(const PlannedDataset& planned, const Ranks& ranks) {
    const auto begin = Clock::now();
    const Dataset& dataset = planned.dataset;
    Hold hold;
    ranks.first_alone([&] { hold = take(planned); });
    if (ranks.least(ranks.first() && !hold.claim ? 0 : 1) == 0) {
        return shared(hold.ending, ranks);
    }
    const JobFile job = ranks.together([&] { return job_for(dataset, plan_.job, plan_.settings); });
    if (plan_.job.pipeline) {
        std::vector<JobPass> passes = passes_on_all(job, ranks, prober_);
        if (!passes.empty()) {
            return work_on_passes(planned, std::move(passes), hold, ranks);
        }
    }
    const RunCommand command = command_for(dataset);
    PassLog log{Phases(start_, "the batch")}; // which writes no report
    Run run(command, {job}, {ranks, prober_, start_, log});
    run.prepare();
    run.bind(binding_);
    run.take(hold.claim.get());
    std::string identity;
    Way way = Way::leave;
    ranks.first_alone([&] {
        identity = output::job_identity(run.prepared());
        way = choose_way(planned, run.prepared(), identity, *hold.claim);
        if (way != Way::leave) {
            record_.started(planned);
        }
    });
    way = shared(way, ranks);
    if (way != Way::leave && run.make() != ExitCode::ok) {
        return DatasetEnding::stopped;
    }
    note_speed(planned, way, seconds_since(begin));
    ranks.first_alone([&] {
        if (way == Way::leave) {
            hold.claim->release(run.prepared());
        }
        record_.done(planned, checksum_text(identity), hold.input,
                     output::files_beside_input(run.prepared()), seconds_since(begin));
    });
    return way == Way::leave ? DatasetEnding::already : DatasetEnding::done;
}

DatasetEnding Worker::work_on_passes(const PlannedDataset& planned, std::vector<JobPass> passes,
                                     const Hold& hold, const Ranks& ranks) {
    const auto begin = Clock::now();
    PreparedJob last; // as if its input were there, on the first rank
    std::string identity;
    Way way = Way::leave;
    ranks.first_alone([&] {
        tell_origins(passes, prober_);
        ProbedFiles files(prober_, passes.front().file.input.rules);
        last = prepare_pass(passes.back(), files);
        identity = output::job_identity(last);
        way = choose_way(planned, last, identity, *hold.claim);
        for (std::size_t i = 0; i + 1 < passes.size(); ++i) {
            allow_replacing(passes[i], files);
        }
    });
    way = shared(way, ranks);
    const std::vector<bool> to_run = earlier_to_run(passes, way == Way::leave, ranks, prober_);
    const bool any = way != Way::leave || std::count(to_run.begin(), to_run.end(), true) > 0;
    ranks.first_alone([&] {
        if (any) {
            record_.started(planned);
        }
    });
    const RunCommand command = command_for(planned.dataset);
    PassLog log{Phases(start_, "the batch")}; // which writes no report
    const RunPlace place{ranks, prober_, start_, log};
    const RunPass run = [&](const RunCommand& of_pass, const JobPass& pass) {
        Run earlier(of_pass, pass, place);
        earlier.prepare();
        earlier.bind(binding_);
        return earlier.claim() ? earlier.make() : ExitCode::ok;
    };
    const RunPass run_last = [&](const RunCommand& of_pass, const JobPass& pass) {
        Run run_of_pass(of_pass, pass, place);
        run_of_pass.prepare();
        run_of_pass.bind(binding_);
        run_of_pass.take(hold.claim.get());
        return run_of_pass.make();
    };
    ExitCode code = run_earlier_passes(command, passes, to_run, run, ranks, prober_);
    if (code == ExitCode::ok && way != Way::leave) {
        code = run_last_pass(command, passes, run_last, ranks, prober_);
    }
    if (code != ExitCode::ok) {
        return DatasetEnding::stopped;
    }
    note_speed(planned, any ? Way::proceed : Way::leave, seconds_since(begin));
    ranks.first_alone([&] {
        if (way == Way::leave) {
            hold.claim->release(last);
            remove_intermediates(passes, prober_);
        }
        record_.done(planned, checksum_text(identity), hold.input, output::files_beside_input(last),
                     seconds_since(begin));
    });
    return any ? DatasetEnding::done : DatasetEnding::already;
}

/// Prepares a pass before the last: a batch makes again what is stale, and starts over where what
/// is left is of another job. On the first rank.
void Worker::allow_replacing(JobPass& pass, FileAccess& files) {
    const PreparedJob prepared = prepare_pass(pass, files);
    const std::string identity = output::job_identity(prepared);
    if (pass.is_kept) {
        make_folder_of(pass.file.output.file);
        if (output::standing_of(prepared, identity, prober_).standing == output::Standing::stale) {
            pass.file.output.overwrite = true;
        }
    }
    if (output::leftovers_beside(pass.file.output.file, identity) == output::Leftovers::other) {
        pass.file.run.resume = ResumeChoice::never;
    }
}

Worker::Hold Worker::take(const PlannedDataset& planned) {
    Hold hold;
    if (is_done_since(planned)) {
        hold.ending = DatasetEnding::already;
        return hold;
    }
    hold.claim = take_output(planned.dataset.output);
    if (!hold.claim) {
        return hold;
    }
    history_.read_on();
    const DatasetEvent* const last = news(planned);
    if (last != nullptr && last->what == DatasetEvent::What::failed) {
        hold.claim.reset();
        hold.ending = DatasetEnding::failed_elsewhere;
        return hold;
    }
    hold.input = mark_of_input(planned.dataset.input);
    return hold;
}

/// With the folder made; nothing where another process has the output.
std::unique_ptr<output::Claim> Worker::take_output(const std::string& output) const {
    make_folder_of(output);
    try {
        return std::make_unique<output::Claim>(output, owner_text(binding_.host), prober_);
    } catch (const LockHeld&) {
        return nullptr;
    }
}

/// By the history alone: of many ranks each finds most datasets done, and no file need be opened.
bool Worker::is_done_since(const PlannedDataset& planned) {
    const FileMark output = mark_of_output(planned.dataset.output);
    if (output.bytes < 0 || output == planned.output) {
        return false;
    }
    history_.read_on();
    return is_known_done(news(planned), planned.listed.key, mark_of_input(planned.dataset.input),
                         output);
}

/// Another process may have made the output, or left a part of it, since it was planned.
Worker::Way Worker::choose_way(const PlannedDataset& planned, const PreparedJob& prepared,
                               const std::string& identity, output::Claim& claim) {
    output::ClaimRules rules = output::rules_of(prepared.file);
    const output::OutputStanding found = claim.look(prepared, identity);
    if (found.standing == output::Standing::done) {
        return Way::leave;
    }
    if (found.standing == output::Standing::foreign && !rules.overwrite) {
        throw Error(ExitCode::output,
                    {"the output is already there", prepared.file.output.file, found.why,
                     "Set output.overwrite = true, or another batch.output"});
    }
    rules.overwrite = rules.overwrite || found.standing == output::Standing::stale;
    const output::Leftovers left = output::leftovers_beside(prepared.file.output.file, identity);
    Way way = left == output::Leftovers::other ? Way::restart : Way::proceed;
    if (left != output::Leftovers::fit && is_brief(planned, prepared)) {
        way = Way::restart_and_brief;
    }
    rules.is_brief = way == Way::restart_and_brief;
    if (way != Way::proceed) {
        rules.resume = ResumeChoice::never;
    }
    claim.replace(prepared, rules);
    return way;
}

/// Whether it will be over before it could be resumed, by the time that those before took. It
/// is spared syncing its journal then, which is most of a small dataset's time on a disk.
bool Worker::is_brief(const PlannedDataset& planned, const PreparedJob& prepared) const {
    const JobFile::Run& run = prepared.file.run;
    return slowest_ > 0 &&
           slowest_ * static_cast<double>(planned.listed.bytes) < run.commit_seconds / 2 &&
           run.resume == ResumeChoice::automatic;
}

void Worker::note_speed(const PlannedDataset& planned, Way way, double seconds) {
    if (way != Way::leave && planned.listed.bytes > 0) {
        slowest_ = std::max(slowest_, seconds / static_cast<double>(planned.listed.bytes));
    }
}

/// The command that would run this dataset by itself, quietly.
RunCommand Worker::command_for(const Dataset& dataset) const {
    RunCommand command = command_;
    command.settings = settings_for(dataset, plan_.settings);
    command.backend.reset(); // among the settings
    command.resume.reset();
    command.quiet = true;
    return command;
}

} // namespace runner::batch
