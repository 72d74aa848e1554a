// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/trial.hpp"

#include "base/array_info.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/files/own_file.hpp"
#include "io/files/text_file.hpp"
#include "jobs/toml_text.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/messages.hpp"
#include "runner/page/report_numbers.hpp"
#include "runner/prepare/passes.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/ranks/mpi.hpp"
#include "runner/trial/choice/ask_strength.hpp"
#include "runner/trial/choice/bisection.hpp"
#include "runner/trial/choice/noise_judge.hpp"
#include "runner/trial/part_pictures.hpp"
#include "runner/trial/part_results.hpp"
#include "runner/trial/part_run.hpp"
#include "runner/trial/planned_work.hpp"
#include "runner/trial/prediction.hpp"
#include "runner/trial/trial_output.hpp"
#include "runner/trial/trial_page.hpp"
#include "runner/trial/trial_results.hpp"
#include "runner/trial/trial_text.hpp"
#include "runner/trial/tried_job.hpp"
#include "runner/watch/stop.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace runner::trial {
namespace {

/// The elements of the first run. Its rate says how large a part takes the wanted seconds.
constexpr std::int64_t first_elements = 256 * KiB;
constexpr std::int64_t most_part_bytes = GiB;
constexpr double least_seconds = 1e-3; ///< that a run is taken to last

/// Beside the output, with its name.
std::string default_folder(const std::string& output) {
    return std::filesystem::path(output).replace_extension(".try").string();
}

class Trial {
  public:
    explicit Trial(const TryCommand& command)
        : command_(command), settings_(settings_of(command)),
          job_(tried_job(command.job, settings_, prober_)),
          files_(prober_, job_.files.front().input.rules), folder_(job_.files.front().output.file),
          page_folder_(command.out.value_or(default_folder(job_.files.front().output.file))),
          runner_(command.job, folder_) {}

    std::string run() {
        page_folder_.make(kept_names());
        measure_start();
        if (part_.box.elements() == checked_product(job_.whole.shape)) {
            job_.why_inexact.clear(); // the part is the whole input
        }
        exact_ = exact_part(job_.whole, part_.box);
        best_ = exact_.value_or(part_.box);
        shown_ = command_.at.empty() ? pictures_of(made(), best_, command_.slices)
                                     : pictures_at(made(), best_, command_.at, part_.box);
        take_before();
        for (std::size_t i = 0; i < job_.combinations.size(); ++i) {
            try_combination(i);
        }
        return command_.halve ? halve(parse_halved_key(*command_.halve)) : write_page();
    }

  private:
    /// The axes of what the job makes, by those of its input the same for all combinations.
    const std::vector<MadeAxis>& made() const { return job_.courses.front().made; }

    /// The settings of a run on a part, which writes files whose names begin with `name`.
    std::vector<std::string> settings_for(std::size_t combination, const TriedPart& part,
                                          const std::string& name) const {
        std::vector<std::string> all = settings_;
        const std::vector<std::string> more =
            part_settings(job_, combination, part, folder_.file(name));
        all.insert(all.end(), more.begin(), more.end());
        if (command_.keep) {
            all.emplace_back("output.parts=1"); // a single file, which can be renamed
        }
        return all;
    }

    /// Runs on a part, and adds the work that the plan says.
    MeasuredRun measure(std::size_t combination, const TriedPart& part, const std::string& name) {
        const std::vector<std::string> settings = settings_for(combination, part, name);
        PartReport report = runner_.run(settings);
        place_.backend = report.backend;
        place_.limits.device_memory = report.device_limit;
        device_ = report.device;
        const PlannedWork work =
            planned_work(load_job_file(command_.job, settings), files_, place_);
        for (std::size_t i = 0; i < report.run.passes.size(); ++i) {
            report.run.passes[i].work = work.passes.at(i);
        }
        return std::move(report.run);
    }

    /// Runs on a small part, and chooses the part by the time that takes. A part that the user
    /// gives is used for both.
    void measure_start() {
        const bool given = command_.part != "central" && command_.part != "first";
        const PartPlace place = command_.part == "first" ? PartPlace::first : PartPlace::central;
        part_.box =
            given ? parse_part(job_.whole, command_.part)
                  : choose_part(job_.whole, first_elements, place, middle_of(command_.at, made()));
        if (!given) {
            require_small_part(job_, part_.box);
        }
        part_.generations = generations_for(job_, first_elements);
        small_ = measure(0, part_, "first");
        folder_.clear();
        if (job_.input.input_is_missing) { // the run has made it
            job_ = tried_job(command_.job, settings_, prober_);
        }
        const double seconds =
            std::max(least_seconds, std::accumulate(small_.passes.begin(), small_.passes.end(), 0.0,
                                                    [](double sum, const MeasuredPass& pass) {
                                                        return sum + pass.stream_seconds;
                                                    }));
        const double more = command_.seconds / seconds;
        part_.generations = generations_for(job_, more * first_elements);
        if (given) {
            return;
        }
        const double elements = static_cast<double>(part_.box.elements()) * more;
        const std::int64_t most = most_part_bytes / size_of(job_.input.input.array.type);
        part_.box = choose_part(
            job_.whole, static_cast<std::int64_t>(std::min(elements, static_cast<double>(most))),
            place, middle_of(command_.at, made()));
    }

    /// The pictures of what the job reads, or the first swept step of a pipeline.
    void take_before() {
        const std::size_t step = first_swept_step(job_.files.front());
        if (step == 0) {
            before_made_ = PartCourse(job_.whole.shape).made();
            for (std::size_t i = 0; i < shown_.size(); ++i) {
                before_.push_back(image_of(files_, input_rows(files_, job_.input, box_before(i))));
            }
            before_caption_ = job_.input.file.input.file + ":" + job_.input.file.input.dataset;
            return;
        }
        const std::string label = job_.files.front().pipeline->steps()[step - 1].label;
        std::vector<std::string> settings = settings_;
        settings.push_back("until=" + toml_text(std::string_view(std::to_string(step))));
        const TriedJob until = tried_job(command_.job, settings, prober_);
        const std::vector<std::string> more =
            part_settings(until, 0, part_, folder_.file("before"));
        settings.insert(settings.end(), more.begin(), more.end());
        runner_.run(settings);
        const std::string file = folder_.file(part_output(until.files.front(), "before"));
        before_made_ = until.courses.front().made;
        const bool is_alike = along_same_axes(before_made_, made());
        const std::vector<Box> boxes =
            is_alike ? shown_ : pictures_of(before_made_, best_, std::ssize(shown_));
        before_ = pictures_of(files_, result_of(until, 0, file), boxes);
        before_.resize(shown_.size(), before_.back());
        before_caption_ = "the output of " + label + ", which the first swept step reads";
        folder_.clear();
    }

    /// What the picture of the job's input shows before.
    Box box_before(std::size_t index) const {
        Box box = picture_before(made(), best_, shown_, index);
        const std::vector<EvolvingStep>& evolving = job_.courses.front().evolving;
        if (!evolving.empty() && box.first.size() > 2) {
            box.first[0] = evolving.front().input_frame;
            box.last[0] = box.first[0] + 1;
        }
        return box;
    }

    /// What a run on the part has made.
    PartResult result_of(const TriedJob& job, std::size_t combination, const std::string& file) {
        const PreparedJob last =
            prepare_pass(passes_of(job.files[combination], files_).back(), files_);
        return {file,
                last.file.output.dataset,
                !last.fields().empty(),
                last.output().shape,
                job.courses[combination].made,
                part_.box,
                last.shown_colour({})};
    }

    void try_combination(std::size_t index) {
        const MeasuredRun run = measure(index, part_, part_name(index));
        const std::string output = folder_.file(output_name(index));
        const PlannedWork need = planned_work(job_.files[index], files_, place_);
        const Prediction whole = predict(small_, run, need.passes);
        const PartResult made = result_of(job_, index, output);
        TrialResult result;
        result.heading = sweep_heading(job_.combinations[index]);
        result.line = whole_job_line(command_, job_.combinations[index]);
        result.after = pictures_of(files_, made, shown_);
        result.ends = job_.courses[index].ends;
        if (!command_.against_file.empty()) {
            result.closeness =
                closeness(files_, made, shown_, command_.against_file, command_.against_dataset);
        }
        if (command_.keep) {
            page_folder_.take(output, output_name(index));
        }
        folder_.clear();
        one_place_ = one_place_ && along_same_axes(before_made_, job_.courses[index].made);
        alike_ = alike_ && one_place_ &&
                 keeps_unit(job_.courses[index], first_swept_step(job_.files[index]));
        result.facts =
            what_is_predicted(command_) + ": about " + short_time_text(whole.seconds()) +
            ", bound by " + bound_text(whole) + "; " + size_text(need.host_bytes) +
            " of host memory" +
            (place_.backend == Backend::cuda ? ", " + size_text(need.device_bytes) + " on the GPU"
                                             : "");
        results_.push_back(std::move(result));
        if (index == 0) {
            prediction_ = prediction_lines(whole);
        }
    }

    /// Tries values between both ends, which have been tried. Returns what write_page() does, and
    /// the choice.
    std::string halve(const HalvedKey& key) {
        values_ = {key.weak, key.strong};
        const bool weak_is_strong = judged(results_[0]) == Strength::too_strong;
        const bool strong_is_weak = judged(results_[1]) == Strength::too_weak;
        if (weak_is_strong || strong_is_weak) {
            return write_page() + judgements_ + no_choice_text(weak_is_strong, key);
        }
        Bisection bisection(key);
        while (const std::optional<double> value = bisection.next()) {
            add_combination(job_, command_.job, settings_, {key.setting(*value)}, prober_);
            try_combination(job_.combinations.size() - 1);
            const TrialResult tried = results_.back();
            sort_results(key, *value);
            if (!command_.until_noise) {
                say(write_page());
            }
            const std::optional<Strength> strength =
                command_.until_noise ? judged(tried) : ask_strength(tried.heading);
            if (!signal_received(1).empty()) {
                throw PartFailed(ExitCode::stopped);
            }
            if (!strength) {
                break;
            }
            bisection.judge(*strength);
        }
        return write_page() + judgements_ + choice_text(command_, key, bisection);
    }

    /// By what was removed; nothing where the person judges.
    std::optional<Strength> judged(const TrialResult& result) {
        if (!command_.until_noise) {
            return std::nullopt;
        }
        const NoiseJudgement judgement = judge_by_noise(before_, result.after, alike_);
        judgements_ += result.heading + ": " + judgement.text + "\n";
        return judgement.strength;
    }

    /// Moves the last result to its place among the others, the weakest first.
    void sort_results(const HalvedKey& key, double value) {
        const bool rises = key.weak < key.strong;
        const auto place = std::find_if(values_.begin(), values_.end(), [&](double other) {
            return rises ? value < other : value > other;
        });
        const auto index = place - values_.begin();
        values_.insert(place, value);
        std::rotate(results_.begin() + index, results_.end() - 1, results_.end());
    }

    /// About the part and the prediction.
    std::vector<std::string> lines() const {
        std::vector<std::string> all;
        all.push_back(part_line(job_, part_));
        all.push_back(exact_line(job_, part_, exact_));
        all.push_back(
            "The pictures show input elements " + shown_.front().text() +
            (shown_.size() > 1 ? fmt::format(" and {} slices more", shown_.size() - 1) : "") +
            (alike_ ? ", all with one range of values."
                    : ", before and after each with a range of values of its own."));
        if (!job_.files.front().datasets.empty()) {
            all.emplace_back("After is the mean distance of the matches of each patch, in the "
                             "middle layer of patches.");
        }
        all.push_back("Predicted for one rank on this machine (" + device_ +
                      ") from the rates of the runs on the part, which may find the input in "
                      "memory where the whole job does not.");
        return all;
    }

    static std::string part_name(std::size_t index) { return fmt::format("part-{}", index + 1); }

    /// The name of a run's output in the work folder, and in the page's folder if it is kept.
    std::string output_name(std::size_t index) const {
        return part_output(job_.files[index], part_name(index));
    }

    std::vector<std::string> kept_names() const {
        std::vector<std::string> names;
        for (std::size_t i = 0; command_.keep && i < job_.files.size(); ++i) {
            names.push_back(output_name(i));
        }
        return names;
    }

    std::string write_page() {
        TrialResults results;
        results.title = job_.input.file.name + trial_title_end;
        results.lines = lines();
        std::transform(shown_.begin(), shown_.end(), std::back_inserter(results.slices),
                       [](const Box& box) { return box.text(); });
        results.before_caption = before_caption_;
        results.before = before_;
        results.runs = results_;
        results.columns = columns();
        results.is_alike = alike_;
        results.is_one_place = one_place_;
        if (results.runs.size() == 1) {
            for (const std::string& line : prediction_) {
                results.lines.push_back(what_is_predicted(command_) + ": " + line + ".");
            }
        }
        return write_trial(page_of(results), page_folder_.path());
    }

    /// A sweep of two keys has a row for each value of the first.
    std::size_t columns() const {
        constexpr std::size_t most = 4;
        const std::vector<JobFile::SweptKey>& keys = job_.files.front().sweep;
        return keys.size() == 2 ? keys.back().values.size() : std::min(most, results_.size());
    }

    const TryCommand& command_;
    std::vector<std::string> settings_;
    Prober prober_;
    TriedJob job_;
    ProbedFiles files_; ///< asked once the first run has made an input that was missing
    WorkFolder folder_;
    PageFolder page_folder_;
    PartRunner runner_;
    TriedPart part_;
    std::optional<Box> exact_;
    Box best_;               ///< what the pictures lie in
    std::vector<Box> shown_; ///< of the input, an image each
    MeasuredRun small_;
    PlannedPlace place_ = this_host();
    std::string device_;
    std::vector<Thumbnail> before_;
    std::vector<MadeAxis> before_made_; ///< the axes of what they show
    std::string before_caption_;
    bool one_place_ = true; ///< before and after lie along the same axes
    bool alike_ = true;     ///< and are of one unit
    std::vector<TrialResult> results_;
    std::vector<double> values_;          ///< of a halved key, of each result
    std::string judgements_;              ///< lines
    std::vector<std::string> prediction_; ///< of the first run
};

} // namespace

TryReport try_job(const TryCommand& command) {
    if (Ranks::started_by_launcher()) {
        throw Error(ExitCode::launch, {"a part is tried by one process", "runner try",
                                       "a launcher has started it", "Leave out mpirun or srun"});
    }
    if (command.pick) {
        return {ExitCode::ok, pick_combination(command)};
    }
    if (command.halve && !command.until_noise) {
        require_person();
    }
    take_signals_over();
    try {
        return {ExitCode::ok, Trial(command).run()};
    } catch (const PartFailed& failed) {
        return {failed.code(), ""};
    }
}

} // namespace runner::trial
