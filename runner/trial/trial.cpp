// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/trial.hpp"

#include "base/array_info.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/files/own_file.hpp"
#include "io/files/text_file.hpp"
#include "io/formats/png_writer.hpp"
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
#include "runner/trial/tried_job.hpp"
#include "runner/watch/stop.hpp"
#include "views/pictures/contrast.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

namespace runner {
namespace {

/// The elements of the first run. Its rate says how large a part takes the wanted seconds.
constexpr std::int64_t first_elements = 256 * KiB;
constexpr std::int64_t most_part_bytes = GiB;

/// The settings of the command line, including those of a sweep.
std::vector<std::string> settings_of(const TryCommand& command) {
    std::vector<std::string> settings = command.settings;
    if (command.backend) {
        settings.push_back("run.backend=" + toml_text(name_of(*command.backend)));
    }
    for (const std::string& sweep : command.sweep) {
        const std::size_t equals = std::min(sweep.find('='), sweep.size());
        const std::string values = sweep.substr(std::min(equals + 1, sweep.size()));
        settings.push_back("sweep." + sweep.substr(0, equals) + "=[" + values + "]");
    }
    return settings;
}

/// Beside the output, with its name.
std::string default_folder(const std::string& output) {
    return std::filesystem::path(output).replace_extension(".try").string();
}

/// The result of one combination of the sweep.
struct Tried {
    Prediction whole;
    PlannedWork need; ///< of the whole job
    Thumbnail after;
    std::string facts;
};

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
        shown_ = picture_of(exact_.value_or(part_));
        before_ =
            input_thumbnail(files_, job_.input,
                            dataset_part(job_.input.part, shown_, job_.input.input.array.shape));
        for (std::size_t i = 0; i < job_.combinations.size(); ++i) {
            tried_.push_back(try_combination(i));
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

    Tried try_combination(std::size_t index) {
        const MeasuredRun run = measure(index, part_, part_name(index));
        const std::string output = folder_.file(output_name(index));
        Tried tried;
        tried.need = planned_work(job_.files[index], files_, place_);
        tried.whole = predict(small_, run, tried.need.passes);
        const PreparedJob prepared =
            prepare_pass(passes_of(job_.files[index], files_).back(), files_);
        tried.after = output_thumbnail(files_, output, prepared.file.output.dataset,
                                       output_box(job_, index, part_, shown_));
        if (command_.keep) {
            page_folder_.take(output, output_name(index));
        }
        folder_.clear();
        alike_ = alike_ && prepared.output().type == job_.input.input.array.type;
        tried.facts = "whole job: about " + short_time_text(tried.whole.seconds()) + ", bound by " +
                      bound_text(tried.whole) + "; " + size_text(tried.need.host_bytes) +
                      " of host memory" +
                      (place_.backend == Backend::cuda
                           ? ", " + size_text(tried.need.device_bytes) + " on the GPU"
                           : "");
        return tried;
    }

    std::string exact_text() const {
        if (!job_.why_inexact.empty()) {
            return "Not equal to the whole job's output: " + job_.why_inexact + ".";
        }
        if (!exact_) {
            return "Not equal to the whole job's output: all of the part lies within reach of "
                   "the cut.";
        }
        return "Input elements " + exact_->text() +
               " become what the whole job makes of them, to the byte" +
               (*exact_ == part_ ? "." : "; the others were computed with the border of the cut.");
    }

    /// About the part and the prediction.
    std::vector<std::string> lines() const {
        std::vector<std::string> all;
        all.push_back(fmt::format("Part {} of {}: {} elements, {} of the input.", part_.text(),
                                  shape_text(job_.whole.shape), part_.elements(), share_text()));
        all.push_back(exact_text());
        all.push_back("The pictures show input elements " + shown_.text() +
                      (alike_ ? ", all with one range of values."
                              : ", before and after each with a range of values of its own."));
        all.push_back("Predicted for one rank on this machine (" + device_ +
                      ") from the rates of the runs on the part, which may find the input in "
                      "memory where the whole job does not.");
        return all;
    }

    std::string share_text() const {
        constexpr double percent = 100;
        const auto whole = static_cast<double>(checked_product(job_.whole.shape));
        return decimal_text(percent * static_cast<double>(part_.elements()) / whole, 3) + " %";
    }

    /// The ranges of values that are black and white: before, and after.
    std::pair<GreyRange, GreyRange> ranges() const {
        std::vector<Thumbnail> after;
        for (const Tried& tried : tried_) {
            after.push_back(tried.after);
        }
        if (!alike_) {
            return {range_of(std::span(&before_, 1)), range_of(after)};
        }
        after.push_back(before_);
        const GreyRange range = range_of(after);
        return {range, range};
    }

    /// The command that runs the whole job with a combination.
    std::string job_line(std::size_t index) const {
        std::string line = "runner " + shell_word(command_.job);
        const auto add = [&](const std::vector<std::string>& settings) {
            for (const std::string& setting : settings) {
                line += " --set " + shell_word(setting);
            }
        };
        add(command_.settings);
        add(job_.combinations[index]);
        if (command_.backend) {
            line += fmt::format(" --backend {}", name_of(*command_.backend));
        }
        return line;
    }

    std::string heading(std::size_t index) const {
        std::string text;
        for (const std::string& setting : job_.combinations[index]) {
            text += (text.empty() ? "" : ", ") + setting;
        }
        return text;
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

    std::string write_page() const {
        const std::string folder = page_folder_.path();
        const auto [black_white_before, black_white_after] = ranges();
        TrialPage page;
        page.title = job_.input.file.name + ", tried on a part";
        page.lines = lines();
        page.before = png_bytes(shaded(before_, black_white_before));
        page.before_caption = job_.input.file.input.file + ":" + job_.input.file.input.dataset;
        page.columns = columns();
        replace_file(folder + "/before.png", page.before);
        for (std::size_t i = 0; i < tried_.size(); ++i) {
            std::vector<std::byte> png = png_bytes(shaded(tried_[i].after, black_white_after));
            replace_file(fmt::format("{}/after{}.png", folder,
                                     tried_.size() > 1 ? fmt::format("-{}", i + 1) : ""),
                         png);
            page.pictures.push_back({heading(i), job_line(i), tried_[i].facts, std::move(png)});
        }
        if (tried_.size() == 1) {
            for (const std::string& line : prediction_lines(tried_.front().whole)) {
                page.lines.push_back("Whole job: " + line + ".");
            }
        }
        write_text_file(folder + "/index.html", trial_html(page));
        std::string text;
        for (const std::string& line : page.lines) {
            text += line + "\n";
        }
        for (const TrialPicture& picture : page.pictures) {
            text += picture.line + "\n  " + picture.facts + "\n";
        }
        return text + folder + "/index.html: " + counted(std::ssize(tried_) + 1, "picture") + "\n";
    }

    /// A sweep of two keys has a row for each value of the first.
    std::size_t columns() const {
        constexpr std::size_t most = 4;
        const std::vector<JobFile::SweptKey>& keys = job_.files.front().sweep;
        return keys.size() == 2 ? keys.back().values.size() : std::min(most, tried_.size());
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
    Box shown_;
    MeasuredRun small_;
    PlannedPlace place_ = this_host();
    std::string device_;
    Thumbnail before_;
    bool alike_ = true; ///< input and outputs are of one type
    std::vector<Tried> tried_;
};

} // namespace

TryReport try_job(const TryCommand& command) {
    if (Ranks::started_by_launcher()) {
        throw Error(ExitCode::launch, {"a part is tried by one process", "runner try",
                                       "a launcher has started it", "Leave out mpirun or srun"});
    }
    take_signals_over();
    try {
        return {ExitCode::ok, Trial(command).run()};
    } catch (const PartFailed& failed) {
        return {failed.code(), ""};
    }
}

} // namespace runner
