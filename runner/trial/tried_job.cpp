// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/tried_job.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "jobs/toml_text.hpp"
#include "runner/prepare/passes.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/trial/part_pictures.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

namespace runner::trial {
namespace {

std::string range_text(std::int64_t first, std::int64_t last) {
    return fmt::format("\"{}:{}\"", first, last);
}

/// The step from frame to frame; nothing if it is not the same between all.
std::optional<std::int64_t> even_step(const std::vector<std::int64_t>& frames) {
    const std::int64_t step = frames.size() > 1 ? frames[1] - frames[0] : 1;
    for (std::size_t i = 1; i < frames.size(); ++i) {
        if (frames[i] - frames[i - 1] != step) {
            return std::nullopt;
        }
    }
    return step;
}

/// The numbers of frames as input.frames counts them: of a scan among its projections.
std::vector<std::int64_t> counted_frames(const PreparedJob& prepared,
                                         std::vector<std::int64_t> frames) {
    if (prepared.layout.roles.known() &&
        !std::holds_alternative<AllFrames>(prepared.file.input.selection.frames)) {
        const std::vector<std::int64_t> all = prepared.layout.roles.of(FrameRole::projection);
        for (std::int64_t& frame : frames) {
            frame = std::lower_bound(all.begin(), all.end(), frame) - all.begin();
        }
    }
    return frames;
}

/// Whether a range in input.frames can take fewer of the frames that the job takes.
bool can_cut_frames(const PreparedJob& prepared, std::size_t axes) {
    const auto& frames = prepared.file.input.selection.frames;
    const bool scan = prepared.layout.roles.known() || !prepared.layout.roles.fault.empty();
    if (scan && std::holds_alternative<AllFrames>(frames)) {
        return axes <= 3; // by input.region
    }
    if (scan && std::holds_alternative<FramesWhere>(frames)) {
        return false;
    }
    return !prepared.region || even_step(counted_frames(prepared, prepared.region->frames));
}

WholeInput whole_input(const PreparedJob& prepared) {
    WholeInput whole;
    whole.shape = prepared.input.array.shape;
    if (prepared.input.channels.value_or(1) > 1) {
        whole.shape.pop_back();
    }
    const std::size_t axes = whole.shape.size();
    for (std::size_t i = 0; i < axes; ++i) {
        const bool is_cut = i + 3 >= axes || i == 0; // by input.region, or input.frames
        whole.axes.push_back({.is_cut = is_cut});
    }
    if (!can_cut_frames(prepared, axes)) {
        whole.axes.front().is_cut = false;
    }
    return whole;
}

/// Makes `all` hold for both.
void take_in(const WholeInput& more, WholeInput& all) {
    for (std::size_t i = 0; i < all.axes.size(); ++i) {
        InputAxis& axis = all.axes[i];
        const InputAxis& other = more.axes.at(i);
        axis.reach = std::max(axis.reach, other.reach);
        axis.step = std::lcm(axis.step, other.step);
        axis.block = std::lcm(axis.block, other.block);
        axis.wraps = axis.wraps || other.wraps;
        axis.is_cut = axis.is_cut && other.is_cut;
        axis.is_shown = axis.is_shown || other.is_shown;
    }
}

/// Adds a step to what becomes of the input.
void add_step(const Job& step, std::string table, PartCourse& course, TriedCourse& tried) {
    course.add(step);
    tried.ends = step.clipped_to();
    for (const Likeness& like : step.likeness()) {
        tried.values.push_back(like.values);
    }
    if (const std::optional<EvolveShape> state = step.state()) {
        tried.evolving.push_back(
            {std::move(table), state->cells, state->snapshots.generations, state->input_frame});
    }
}

/// What becomes of the input in all passes, and, in `whole`, how it may be cut for that.
TriedCourse course_of(const JobFile& file, FileAccess& files, TriedJob& job, WholeInput& whole) {
    PartCourse course(whole.shape);
    TriedCourse tried;
    std::size_t number = 0; // of a pipeline's step
    for (const JobPass& pass : passes_of(file, files)) {
        const PreparedJob prepared = prepare_pass(pass, files);
        if (prepared.job->survey()) {
            job.why_inexact = "a value that the job takes from its whole input (a noise level, the "
                              "greatest magnitude, a range) was taken from the part alone";
        }
        for (const StepFacts& step : pass.steps) {
            add_step(*step.job, fmt::format("step.{}", ++number), course, tried);
        }
        if (pass.steps.empty()) {
            add_step(*prepared.job, file.kind, course, tried);
        }
    }
    if (!file.datasets.empty()) {
        job.why_inexact = "the lists of matches number the patches of the part, and those near a "
                          "cut lack the patches beyond it";
    }
    tried.made = course.made();
    WholeInput input = course.input();
    for (std::size_t i = 0; i < tried.made.size(); ++i) {
        if (tried.made[i].input && i + 2 >= tried.made.size()) {
            input.axes[*tried.made[i].input].is_shown = true;
        }
    }
    take_in(input, whole);
    return tried;
}

/// Refuses a combination whose results cannot be shown beside the others'.
void require_same_axes(const TriedJob& job, const std::vector<std::string>& combination) {
    if (!along_same_axes(job.courses.front().made, job.courses.back().made)) {
        throw Error(ExitCode::usage,
                    {"cannot show these values beside each other", combination.front(),
                     "it makes an array of other axes than the first combination of the sweep",
                     "Try each by itself, with --set instead of --sweep"});
    }
}

/// input.region and input.frames; none for all of the input.
void add_part(const TriedJob& job, const Box& part, std::vector<std::string>& settings) {
    if (part.elements() == checked_product(job.whole.shape)) {
        return;
    }
    const DatasetPart cut = dataset_part(job.input.region, part, job.input.input.array.shape);
    const std::size_t axes = job.whole.shape.size();
    static constexpr std::array<std::string_view, 3> names = {"columns", "rows", "depth"};
    std::string region;
    for (std::size_t i = 0; i < std::min(axes, names.size()); ++i) {
        const std::size_t axis = axes - 1 - i;
        if (axis == 0 && !cut.frames.empty()) {
            continue;
        }
        region += fmt::format("{} {} = {}", region.empty() ? "" : ",", names.at(i),
                              range_text(cut.first[axis], cut.first[axis] + cut.count[axis]));
    }
    settings.push_back("input.region={" + region + " }");
    if (!cut.frames.empty() && job.whole.axes.front().is_cut) {
        const std::vector<std::int64_t> frames = counted_frames(job.input, cut.frames);
        settings.push_back(fmt::format("input.frames=\"{}:{}:{}\"", frames.front(),
                                       frames.back() + 1, *even_step(frames)));
    } else if (cut.frames.empty() && axes > names.size() && job.whole.axes.front().is_cut) {
        settings.push_back("input.frames=" + range_text(cut.first[0], cut.first[0] + cut.count[0]));
    }
}

/// Fewer generations, of which the last alone is kept.
void add_generations(const TriedCourse& course, std::int64_t most,
                     std::vector<std::string>& settings) {
    for (const EvolvingStep& step : course.evolving) {
        settings.push_back(
            fmt::format("{}.generations={}", step.table, std::min(most, step.generations)));
        settings.push_back(step.table + ".snapshot_every=0");
    }
}

} // namespace

std::int64_t TriedJob::generations() const {
    std::int64_t most = 0;
    for (const TriedCourse& course : courses) {
        for (const EvolvingStep& step : course.evolving) {
            most = std::max(most, step.generations);
        }
    }
    return most;
}

std::vector<std::vector<std::string>> combinations_of(const JobFile& file) {
    std::vector<std::vector<std::string>> all = {{}};
    for (const auto& [key, values] : file.sweep) {
        std::vector<std::vector<std::string>> longer;
        for (const std::vector<std::string>& before : all) {
            for (const std::string& value : values) {
                longer.push_back(before);
                longer.back().push_back(fmt::format("{}={}", key, value));
            }
        }
        all = std::move(longer);
    }
    return all;
}

TriedJob tried_job(const std::string& path, const std::vector<std::string>& settings,
                   Prober& prober) {
    TriedJob job;
    const JobFile base = load_job_file(path, settings);
    require_one_dataset(base);
    job.combinations = combinations_of(base);
    for (const std::vector<std::string>& combination : job.combinations) {
        std::vector<std::string> all = settings;
        all.insert(all.end(), combination.begin(), combination.end());
        job.files.push_back(load_job_file(path, all));
    }
    ProbedFiles files(prober, base.input.rules);
    job.input = prepare_pass(passes_of(job.files.front(), files).front(), files);
    job.whole = whole_input(job.input);
    for (std::size_t i = 0; i < job.files.size(); ++i) {
        job.courses.push_back(course_of(job.files[i], files, job, job.whole));
        require_same_axes(job, job.combinations[i]);
    }
    return job;
}

void add_combination(TriedJob& job, const std::string& path, std::vector<std::string> settings,
                     const std::vector<std::string>& combination, Prober& prober) {
    settings.insert(settings.end(), combination.begin(), combination.end());
    JobFile file = load_job_file(path, settings);
    ProbedFiles files(prober, file.input.rules);
    WholeInput both = job.whole;
    TriedCourse course = course_of(file, files, job, both);
    if (both.axes != job.whole.axes) {
        throw Error(ExitCode::usage, {"cannot halve this key", combination.front(),
                                      "this value needs another part of the input than both ends",
                                      "Sweep it instead: --sweep KEY=A,B,C"});
    }
    job.combinations.push_back(combination);
    job.courses.push_back(std::move(course));
    job.files.push_back(std::move(file));
    require_same_axes(job, combination);
}

void require_small_part(const TriedJob& job, const Box& part) {
    constexpr std::int64_t most_bytes = 8 * GiB;
    const std::int64_t most = most_bytes / size_of(job.input.input.array.type);
    if (part.elements() > most) {
        throw Error(ExitCode::usage,
                    {"cannot try a part of this job", job.files.front().path,
                     "it joins whole axes, so that its least part, " + part.text() + " of " +
                         shape_text(job.whole.shape) + ", is larger than " + size_text(most_bytes),
                     "Run the whole job, whose memory `runner plan` prints; of a pipeline, try the "
                     "steps before with --until"});
    }
}

std::int64_t generations_for(const TriedJob& job, double updates) {
    double cells = 1;
    for (const EvolvingStep& step : job.courses.front().evolving) {
        cells = std::max(cells, static_cast<double>(step.cells));
    }
    const auto most = static_cast<double>(job.generations());
    return static_cast<std::int64_t>(std::min(std::max(1.0, updates / cells), most));
}

bool keeps_unit(const TriedCourse& course, std::size_t first) {
    return std::all_of(
        course.values.begin() +
            std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(first), std::ssize(course.values)),
        course.values.end(),
        [](Likeness::Values values) { return values >= Likeness::Values::scaled; });
}

std::string part_output(const JobFile& file, const std::string& name) {
    return name + std::filesystem::path(file.output.file).extension().string();
}

std::vector<std::string> part_settings(const TriedJob& job, std::size_t combination,
                                       const TriedPart& part, const std::string& name) {
    std::vector<std::string> settings = job.combinations[combination];
    add_part(job, part.box, settings);
    add_generations(job.courses[combination], part.generations, settings);
    const JobFile& file = job.files[combination];
    if (file.output.keep_fields) { // which are not what is tried
        settings.emplace_back("output.keep_fields=false");
    }
    settings.push_back("output.file=" + toml_text(std::string_view(part_output(file, name))));
    if (!file.output.layout.chunk.empty()) {
        std::vector<std::int64_t> chunk = file.output.layout.chunk;
        const Box made = made_box(job.courses[combination].made, part.box, part.box);
        for (std::size_t i = 0; i < std::min(chunk.size(), made.first.size()); ++i) {
            chunk[i] = std::min(chunk[i], made.extent(i));
        }
        settings.push_back("output.chunk=" + toml_text(std::span<const std::int64_t>(chunk)));
    }
    if (file.pipeline) {
        for (const StepParameters& step : file.pipeline->steps()) {
            if (!step.save.empty()) {
                const std::string saved = name + "-" + std::to_string(step.number) +
                                          std::filesystem::path(step.save).extension().string();
                settings.push_back(fmt::format("step.{}.save={}", step.number,
                                               toml_text(std::string_view(saved))));
            }
        }
    }
    return settings;
}

} // namespace runner::trial
