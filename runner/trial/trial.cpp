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
#include "runner/trial/part_pictures.hpp"
#include "runner/trial/part_run.hpp"
#include "runner/trial/planned_work.hpp"
#include "runner/trial/prediction.hpp"
#include "runner/trial/trial_page.hpp"
#include "runner/trial/trial_results.hpp"
#include "runner/trial/trial_text.hpp"
#include "runner/trial/tried_job.hpp"
#include "runner/watch/stop.hpp"
#include "views/compare.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace runner {
namespace {

/// The elements of the first run. Its rate says how large a part takes the wanted seconds.
constexpr std::int64_t first_elements = 256 * KiB;
constexpr std::int64_t most_part_bytes = GiB;

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
        if (part_.elements() == checked_product(job_.whole.shape)) {
            job_.why_inexact.clear(); // the part is the whole input
        }
        exact_ = exact_part(job_.whole, part_);
        shown_ = pictures_of(exact_.value_or(part_), command_.slices);
        take_before();
        for (std::size_t i = 0; i < job_.combinations.size(); ++i) {
            try_combination(i);
        }
        return write_page();
    }

  private:
    /// The settings of a run on a part, which writes files whose names begin with `name`.
    std::vector<std::string> settings_for(std::size_t combination, const Box& part,
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
    MeasuredRun measure(std::size_t combination, const Box& part, const std::string& name) {
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
        part_ = given ? parse_part(job_.whole, command_.part)
                      : choose_part(job_.whole, first_elements, place);
        small_ = measure(0, part_, "first");
        folder_.clear();
        if (job_.input.input_is_missing) { // the run has made it
            job_ = tried_job(command_.job, settings_, prober_);
        }
        if (given) {
            return;
        }
        double seconds = 0;
        for (const MeasuredPass& pass : small_.passes) {
            seconds += pass.stream_seconds;
        }
        constexpr double least_seconds = 1e-3;
        const double elements = static_cast<double>(part_.elements()) * command_.seconds /
                                std::max(seconds, least_seconds);
        const std::int64_t most = most_part_bytes / size_of(job_.input.input.array.type);
        part_ = choose_part(
            job_.whole, static_cast<std::int64_t>(std::min(elements, static_cast<double>(most))),
            place);
    }

    /// The pictures of what the job reads, or the first swept step of a pipeline.
    void take_before() {
        const std::size_t step = first_swept_step(job_.files.front());
        if (step == 0) {
            for (const Box& box : shown_) {
                before_.push_back(image_of(files_, input_rows(files_, job_.input, box)));
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
        const PreparedJob prepared = last_pass(until.files.front());
        const std::string file = folder_.file(part_output(until.files.front(), "before"));
        for (const Box& box : shown_) {
            before_.push_back(
                image_of(files_, dataset_rows(files_, file, prepared.file.output.dataset,
                                              output_box(until, 0, part_, box))));
        }
        before_caption_ = "the output of " + label + ", which the first swept step reads";
        folder_.clear();
    }

    /// Whether what the pictures show after has the unit of what they show before.
    bool keeps_unit(const JobFile& file) {
        std::vector<Likeness> steps;
        for (const JobPass& pass : passes_of(file, files_)) {
            const std::vector<Likeness> more = prepare_pass(pass, files_).job->likeness();
            steps.insert(steps.end(), more.begin(), more.end());
        }
        const auto shown = std::span(steps).subspan(std::min(first_swept_step(file), steps.size()));
        return std::all_of(shown.begin(), shown.end(), [](const Likeness& step) {
            return step.values >= Likeness::Values::scaled;
        });
    }

    PreparedJob last_pass(const JobFile& file) {
        return prepare_pass(passes_of(file, files_).back(), files_);
    }

    void try_combination(std::size_t index) {
        const MeasuredRun run = measure(index, part_, part_name(index));
        const std::string output = folder_.file(output_name(index));
        const PlannedWork need = planned_work(job_.files[index], files_, place_);
        const Prediction whole = predict(small_, run, need.passes);
        const PreparedJob prepared = last_pass(job_.files[index]);
        const std::string& dataset = prepared.file.output.dataset;
        TrialResult result;
        result.heading = sweep_heading(job_.combinations[index]);
        result.line = whole_job_line(command_, job_.combinations[index]);
        for (const Box& box : shown_) {
            result.after.push_back(
                image_of(files_, dataset_rows(files_, output, dataset,
                                              output_box(job_, index, part_, box))));
        }
        if (!command_.against_file.empty()) {
            result.closeness = closeness(index, output, prepared);
        }
        if (command_.keep) {
            page_folder_.take(output, output_name(index));
        }
        folder_.clear();
        alike_ = alike_ && keeps_unit(job_.files[index]);
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

    /// Compares the slices of a run's output with the same elements of the file that --against
    /// names.
    Closeness closeness(std::size_t index, const std::string& output, const PreparedJob& prepared) {
        const DatasetLayout other = files_.layout(command_.against_file, command_.against_dataset);
        if (other.info.array.shape != prepared.output().shape) {
            throw Error(ExitCode::usage,
                        {"cannot compare with --against", command_.against_file,
                         "it is " + shape_text(other.info.array.shape) +
                             ", and the whole job makes " + shape_text(prepared.output().shape),
                         "Name a dataset with the shape of the whole output"});
        }
        const Box origin{std::vector<std::int64_t>(part_.first.size(), 0), part_.last};
        Closeness mean{0.0, 0.0};
        const auto add = [&](std::optional<double>& sum, const std::optional<double>& one) {
            sum = sum && one ? std::optional(*sum + *one / static_cast<double>(shown_.size()))
                             : std::nullopt;
        };
        for (const Box& box : shown_) {
            const NamedRows wanted = dataset_rows(files_, command_.against_file, other.dataset,
                                                  output_box(job_, index, origin, box));
            const NamedRows made = dataset_rows(files_, output, prepared.file.output.dataset,
                                                output_box(job_, index, part_, box));
            const Comparison found = compare_rows(*wanted.rows, *made.rows);
            add(mean.psnr, found.psnr);
            add(mean.ssim, found.ssim);
        }
        return mean;
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
        results.title = job_.input.file.name + ", tried on a part";
        results.lines = lines();
        std::transform(shown_.begin(), shown_.end(), std::back_inserter(results.slices),
                       [](const Box& box) { return box.text(); });
        results.before_caption = before_caption_;
        results.before = std::move(before_);
        results.runs = std::move(results_);
        results.columns = columns();
        results.is_alike = alike_;
        if (results.runs.size() == 1) {
            for (const std::string& line : prediction_) {
                results.lines.push_back(what_is_predicted(command_) + ": " + line + ".");
            }
        }
        const TrialPage page = page_of(results);
        write_pictures(page);
        write_text_file(page_folder_.path() + "/index.html", trial_html(page));
        std::string text;
        for (const std::string& line : page.lines) {
            text += line + "\n";
        }
        for (const TrialPicture& picture : page.pictures) {
            text += picture.line + "\n  " + picture.facts + "\n" + numbers_line(picture);
        }
        return text + page_folder_.path() +
               "/index.html: " + counted(std::ssize(page.pictures) + 1, "picture") + "\n";
    }

    /// The first slice of each as a file.
    void write_pictures(const TrialPage& page) const {
        const std::string folder = page_folder_.path();
        replace_file(folder + "/before.png", page.before.front());
        for (std::size_t i = 0; i < page.pictures.size(); ++i) {
            replace_file(fmt::format("{}/after{}.png", folder,
                                     page.pictures.size() > 1 ? fmt::format("-{}", i + 1) : ""),
                         page.pictures[i].after.front());
        }
    }

    static std::string numbers_line(const TrialPicture& picture) {
        std::string line;
        for (const TrialNumber& each : picture.numbers) {
            line += (line.empty() ? "  " : ", ") + each.name + " " + each.text;
        }
        return line + "\n";
    }

    /// A sweep of two keys has a row for each value of the first.
    std::size_t columns() const {
        constexpr std::size_t most = 4;
        const std::vector<JobFile::SweptKey>& keys = job_.files.front().sweep;
        return keys.size() == 2 ? keys.back().values.size()
                                : std::min(most, job_.combinations.size());
    }

    const TryCommand& command_;
    std::vector<std::string> settings_;
    Prober prober_;
    TriedJob job_;
    ProbedFiles files_; ///< asked once the first run has made an input that was missing
    WorkFolder folder_;
    PageFolder page_folder_;
    PartRunner runner_;
    Box part_;
    std::optional<Box> exact_;
    std::vector<Box> shown_; ///< of the input, an image each
    MeasuredRun small_;
    PlannedPlace place_ = this_host();
    std::string device_;
    std::vector<Thumbnail> before_;
    std::string before_caption_;
    bool alike_ = true; ///< before and after are of one unit
    std::vector<TrialResult> results_;
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
    take_signals_over();
    try {
        return {ExitCode::ok, Trial(command).run()};
    } catch (const PartFailed& failed) {
        return {failed.code(), ""};
    }
}

} // namespace runner
