// SPDX-License-Identifier: BSD-3-Clause
#include "runner/run.hpp"

#include "base/durations.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/files/text_file.hpp"
#include "io/output/journal.hpp"
#include "io/output/own_parts.hpp"
#include "jobs/generate.hpp"
#include "runner/assemble_on_all.hpp"
#include "runner/engines/rank_plan.hpp"
#include "runner/engines/share_images.hpp"
#include "runner/messages.hpp"
#include "runner/open_run.hpp"
#include "runner/output/complete_output.hpp"
#include "runner/prepare/disk_space.hpp"
#include "runner/ranks/host_memory.hpp"
#include "runner/ranks/kept_rates.hpp"
#include "runner/ranks/prepare_on_all.hpp"
#include "runner/report/job_counts.hpp"
#include "runner/run_passes.hpp"
#include "runner/run_report.hpp"
#include "runner/watch/progress.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <functional>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

namespace runner {
namespace {

using Clock = std::chrono::steady_clock;

void generate_input(const PreparedJob& prepared, int threads, const std::function<void()>& check) {
    const JobFile::Input& input = prepared.file.input;
    say("making " + printable(input.file) + " (" +
        size_text(byte_count(prepared.layout.info.array)) + ")\n");
    GenerateStorage storage;
    storage.check = check;
    generate(*input.generate, input.file, input.dataset, threads, Overwrite::no, storage);
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

/// Puts what earlier passes have said before what this one says, each once, and keeps both.
void gather(std::vector<std::string>& earlier, std::vector<std::string>& own) {
    std::copy_if(own.begin(), own.end(), std::back_inserter(earlier), [&](const auto& each) {
        return std::find(earlier.begin(), earlier.end(), each) == earlier.end();
    });
    own = earlier;
}

} // namespace

Run::Run(const RunCommand& command, JobPass pass, const RunPlace& place)
    : command_(command), pass_(std::move(pass)), place_(place),
      trace_(command.trace ? Trace::default_capacity : 0,
             command.reports.empty() ? 0 : timeline_bars(place.ranks.rank(), place.ranks.size())) {
    place_.ranks.standing().attended = false;
}

/// Throws where a signal has asked this rank to end. Nothing that is kept is made yet.
void Run::end_if_asked() const {
    if (const std::string signal = signal_received(1); !signal.empty()) {
        throw Error(ExitCode::stopped,
                    {"stopped while " + std::string(place_.ranks.standing().doing.load()),
                     "signal " + signal, "", "The same command runs it"});
    }
}

/// Begins the next step before the stream, unless a rank is to end.
void Run::begin_step(const char* doing) const {
    place_.ranks.together([&] { end_if_asked(); });
    place_.ranks.note(doing);
    place_.log.phases.begin(doing);
}

void Run::prepare() {
    begin_step("looking at the input");
    prepared_ =
        std::make_shared<const PreparedJob>(prepare_on_all(pass_, place_.ranks, place_.prober));
}

/// Surveys take some tenths of a second of each 10 GB, as long as drivers take to start. Errors
/// and warnings of both are reported in the order of a survey that begins afterwards.
void Run::begin_survey() {
    if (prepared_->input_is_missing || !prepared_->job->survey()) {
        return;
    }
    CpuList cores = share_of_host(place_.ranks);
    try {
        ahead_.emplace(prepared_, place_.ranks, std::move(cores), open_.progress);
    } catch (const std::system_error&) { // no thread: then it is taken before the stream
    }
}

void Run::bind() {
    begin_step("finding its device");
    begin_survey();
    own_binding_ = bind_rank(place_.ranks, pass_.file.run.backend);
    binding_ = &*own_binding_;
}

/// Images that the job needs and each rank makes a part of.
void Run::share_images(const JobPlan& plan) const {
    runner::share_images(*prepared_->job, plan.need.images_work, place_.ranks,
                         [this] { end_if_asked(); });
}

/// On the first rank, once its output's folder is there.
output::ToDo Run::settle() {
    check_side_files(command_);
    if (pass_.file.input.generate && !prepared_->input_is_missing) {
        clean_up_beside(pass_.file.input.file); // a run that made it may have been killed late
    }
    if (const std::string doubt = disk_space(*prepared_).doubt(); !doubt.empty()) {
        warnings_.push_back(warn(command_, doubt));
    }
    if (claim_ == nullptr) {
        own_claim_.emplace(pass_.file.output.file, owner_text(binding_->host), place_.prober);
        claim_ = &*own_claim_;
    }
    return claim_->settle(*prepared_, output::rules_of(pass_.file));
}

bool Run::claim() {
    const Ranks& ranks = place_.ranks;
    begin_step("planning the job");
    const PlanPtr plan = plan_rank(*prepared_, *binding_, ranks);
    begin_step("computing the images that the job needs");
    share_images(*plan); // the identity needs them
    begin_step("inspecting what is under the output's name");
    output::ToDo to_do = output::ToDo::make;
    ranks.first_alone([&] { to_do = settle(); });
    if (ranks.least(to_do == output::ToDo::nothing ? 0 : 1) == 0) {
        if (ranks.first()) {
            tell_complete(command_, pass_.file.output.file);
        }
        return false;
    }
    if (prepared_->input_is_missing) {
        begin_step("making its input");
        ranks.first_alone([&] {
            generate_input(*prepared_, binding_->limits.cores, [this] { end_if_asked(); });
        });
        prepared_ =
            std::make_shared<const PreparedJob>(prepare_on_all(pass_, ranks, place_.prober));
    }
    return true;
}

/// The first rank makes the output and its journal, or finds them, and sends the others its result.
void Run::begin() {
    const Ranks& ranks = place_.ranks;
    begin_step("making the output, or taking over what an earlier run left");
    ranks.first_alone(
        [&] { beginning_ = claim_->begin(*prepared_, ranks.size(), binding_->limits.cores); });
    beginning_ = ranks.broadcast(beginning_);
    beginning_.parts.folder = parts_folder(pass_.file.output.file);
    plan_ = plan_rank(*prepared_, *binding_, ranks, {beginning_.done, beginning_.parts});
    share_images(*plan_);
    mine_ = rank_report(*binding_, *plan_, ranks);
    const std::string table = binding_table(ranks.gather(mine_));
    if (speaks()) {
        say(table + plan_->text() + notes_text(beginning_.notes));
    }
}

/// Waits until the rows that the run took over are compared with their checksums; false where a
/// stop was asked for before, on any rank. @throws Error (output) where some are wrong.
bool Run::finish_taken(output::TakenRows& taken, const RunContext& context) const {
    const Ranks& ranks = place_.ranks;
    const bool finished = ranks.together([&] { return taken.finish(context.stop); });
    if (ranks.least(finished ? 1 : 0) == 0) {
        return false;
    }
    std::vector<RowHash> wrong;
    for (const std::vector<RowHash>& each : ranks.gather(taken.wrong())) {
        wrong.insert(wrong.end(), each.begin(), each.end());
    }
    ranks.first_alone([&] { output::refuse_wrong_rows(*prepared_, beginning_, wrong); });
    return true;
}

/// False where something asked to stop before the survey, which the job may ask for, was complete.
bool Run::survey() {
    const std::size_t known = prepared_->input.notes.size();
    if (!prepared_->job->survey()) {
        tell_findings(known);
        return true;
    }
    const auto begin = Clock::now();
    place_.log.phases.begin(survey_phase);
    std::optional<PreparedJob> surveyed = survey_input(
        *prepared_, place_.ranks,
        {binding_->limits.cores, plan_->io_threads, *stop_, open_.progress,
         speaks() ? progress_style(stderr) : ProgressStyle::silent, ahead_ ? &*ahead_ : nullptr});
    place_.log.survey_seconds += seconds_since(begin) + (ahead_ ? ahead_->seconds_ahead() : 0);
    ahead_.reset();
    if (!surveyed) {
        return false;
    }
    prepared_ = std::make_shared<const PreparedJob>(std::move(*surveyed));
    tell_findings(known);
    return true;
}

/// On the first rank, what was found of the input, and its warnings: those behind `known` others.
void Run::tell_findings(std::size_t known) const {
    if (speaks()) {
        say(notes_text(prepared_->job->found()));
    }
    if (place_.ranks.first()) {
        std::for_each(prepared_->input.notes.begin() + static_cast<std::ptrdiff_t>(known),
                      prepared_->input.notes.end(),
                      [this](const std::string& note) { warn(command_, note); });
    }
}

/// This rank's share of the rows; sets what is known of it then.
void Run::make_rows(const RunContext& context) {
    const Ranks& ranks = place_.ranks;
    open_.output = begin_levels(*prepared_, beginning_.parts, place_);
    const std::unique_ptr<EngineRun> engine = open_run(*plan_, context);
    const auto taken = ranks.together([&] {
        return std::make_unique<output::TakenRows>(output_dataset(*prepared_, beginning_.parts),
                                                   beginning_.unread, ranks.rank(), ranks.size(),
                                                   plan_->io_threads);
    });
    start_seconds_ = seconds_since(place_.start);
    Phases& phases = place_.log.phases;
    if (context.surveyed) {
        phases.begin("taking memory");
        mine_.times = run_engine(*engine, context, *binding_,
                                 command_.quiet ? ShowProgress::no : ShowProgress::yes,
                                 command_.trace || !command_.reports.empty() ? &trace_ : nullptr);
        phases.split("stream", mine_.times.wall_seconds);
        if (binding_->backend == Backend::cpu) {
            mine_.times.device_bytes = 0; // its device is the host
        }
    }
    last_row_ = Clock::now();
    phases.begin("closing the output");
    ranks.together([&] {
        open_.commits->finish();
        open_.writer->finish(RowWriter::Sync::no);
    });
    stopped_ = engine->agree_on_stop();
    if (!stopped_ && (!context.surveyed || !finish_taken(*taken, context))) {
        stopped_ = Stopped{stop_->reason(), "all rows of "};
    }
}

bool Run::stream() {
    const Ranks& ranks = place_.ranks;
    started_ = utc_text(std::time(nullptr));
    ranks.standing().attended = false;
    begin();
    stop_.emplace(stop_files(*prepared_), ranks.size());
    stop_->look(); // a short job may be done before the attendant does
    attendant_.emplace(command_, *prepared_, *binding_, place_, open_, *stop_);
    ranks.note("running it");
    place_.log.phases.begin("opening the files");
    const bool is_surveyed = survey();
    make_rows({*prepared_, ranks, beginning_, open_, *stop_, is_surveyed});
    mine_.resident_peak = peak_resident_memory();
    mine_.bars = trace_.timeline().bars();
    mine_.merged_below_seconds = trace_.timeline().resolution();
    if (stopped_ && ranks.first()) {
        say(stopped_line(*prepared_, *stopped_));
    }
    return !stopped_;
}

/// Puts the output together and gives it its name.
void Run::put_together(RunReport& report) {
    const Ranks& ranks = place_.ranks;
    const Assembled assembled =
        assemble_on_all(open_.output, open_.levels.get(),
                        {ranks.rank(), ranks.size(), plan_->io_threads, beginning_.sync,
                         plan_->host_memory - plan_->need.host()},
                        place_);
    report.levels = assembled.levels;
    for (std::string& warning : report.warnings) { // These were told when the input was read.
        warning = in_words_of(command_, warning);
    }
    report.warnings.insert(report.warnings.end(), warnings_.begin(), warnings_.end());
    place_.log.phases.begin("recording checksums and facts");
    ranks.first_alone([&] {
        for (const std::string& warning :
             claim_->complete(*prepared_, beginning_, provenance(report), assembled.extremes)) {
            report.warnings.push_back(warn(command_, warning));
        }
        if (command_.pass == command_.passes) { // the last one's counts are those of all
            for (const std::string& doubt : doubts_of(report.counts)) {
                report.warnings.push_back(warn(command_, doubt));
            }
        }
    });
}

void Run::complete() {
    const Ranks& ranks = place_.ranks;
    PassLog& log = place_.log;
    add_uses(log.kernels, mine_.times.kernels);
    mine_.times.kernels = log.kernels;
    if (!command_.reports.empty() && binding_->backend == Backend::cuda) {
        mine_.rates = kept_rates(binding_->device.uuid);
    }
    ranks.note("completing the output");
    log.phases.begin("gathering the report");
    const std::vector<std::string> settings = settings_of(command_);
    RunReport report = run_report(*prepared_, settings, *plan_, beginning_, ranks.gather(mine_));
    report.started = started_;
    log.start_seconds = log.start_seconds.value_or(start_seconds_);
    report.start_seconds = *log.start_seconds;
    report.seconds_before = log.seconds;
    report.survey_seconds = log.survey_seconds;
    report.wall_seconds = seconds_since(place_.start);
    put_together(report);
    gather(log.warnings, report.warnings);
    gather(log.notes, report.notes);
    log.phases.begin("ending the ranks' watch");
    attendant_.reset(); // on every rank, before the folder of its files goes
    ranks.barrier();
    report.wall_seconds = seconds_since(place_.start);
    report.finish_seconds = seconds_since(last_row_);
    add_events(command_, *binding_, ranks, trace_, start_seconds_ - report.start_seconds, log);
    if (ranks.first() && pass_.file.pipeline) {
        log.reports.push_back(pass_report(command_.pass, pass_.file, *plan_, report.ranks));
        log.reports.back().start_seconds = start_seconds_ - report.start_seconds;
        report.passes = log.reports;
    }
    log.seconds = report.wall_seconds;
    report.phases = log.phases.until_now();
    write_all(command_, report, *prepared_, *binding_, ranks, log);
    ranks.first_alone([&] {
        remove_stale_intermediates(*prepared_, place_.prober);
        claim_->release(*prepared_);
    });
}

ExitCode Run::make() {
    if (!stream()) {
        return ExitCode::stopped;
    }
    complete();
    return ExitCode::ok;
}

} // namespace runner
