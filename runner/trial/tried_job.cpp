// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/tried_job.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
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

namespace runner {
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
        whole.is_cut.push_back(i + 3 >= axes || i == 0); // by input.region, or input.frames
    }
    if (!can_cut_frames(prepared, axes)) {
        whole.is_cut.front() = false;
    }
    return whole;
}

/// Makes `all` hold for both.
void take_in(const Locality& more, Locality& all) {
    for (std::size_t i = 0; i < all.reach.size(); ++i) {
        all.reach.at(i) = std::max(all.reach.at(i), more.reach.at(i));
        all.step.at(i) = std::lcm(all.step.at(i), more.step.at(i));
        all.block.at(i) = std::lcm(all.block.at(i), more.block.at(i));
    }
    all.wraps = all.wraps || more.wraps;
}

[[noreturn]] void refuse(const JobFile& file) {
    throw Error(
        ExitCode::usage,
        {"cannot try a part of this job", file.path,
         "what match, reduce, sand and transpose make of a part of their input is not a part of "
         "what "
         "they make of the whole",
         "`runner plan` prints the memory; of a pipeline, try the steps before with --until"});
}

/// The locality of all passes.
Locality locality_of(const JobFile& file, FileAccess& files, TriedJob& job) {
    Locality all;
    for (const JobPass& pass : passes_of(file, files)) {
        const PreparedJob prepared = prepare_pass(pass, files);
        const std::optional<Locality> locality = prepared.job->locality();
        if (!locality) {
            refuse(file);
        }
        if (prepared.job->survey()) {
            job.why_inexact = "a value that the job takes from its whole input (a noise level, the "
                              "greatest magnitude, a range) was taken from the part alone";
        }
        all = all.then(*locality);
    }
    return all;
}

/// input.region and input.frames.
void add_part(const TriedJob& job, const Box& part, std::vector<std::string>& settings) {
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
    if (!cut.frames.empty() && job.whole.is_cut.front()) {
        const std::vector<std::int64_t> frames = counted_frames(job.input, cut.frames);
        settings.push_back(fmt::format("input.frames=\"{}:{}:{}\"", frames.front(),
                                       frames.back() + 1, *even_step(frames)));
    } else if (cut.frames.empty() && axes > names.size() && job.whole.is_cut.front()) {
        settings.push_back("input.frames=" + range_text(cut.first[0], cut.first[0] + cut.count[0]));
    }
}

} // namespace

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
    if (!job.input.job->locality()) {
        refuse(base);
    }
    job.whole = whole_input(job.input);
    for (const JobFile& file : job.files) {
        const Locality locality = locality_of(file, files, job);
        take_in(locality, job.whole.locality);
        job.blocks.push_back(locality.block);
    }
    return job;
}

std::string part_output(const JobFile& file, const std::string& name) {
    return name + std::filesystem::path(file.output.file).extension().string();
}

std::vector<std::string> part_settings(const TriedJob& job, std::size_t combination,
                                       const Box& part, const std::string& name) {
    std::vector<std::string> settings = job.combinations[combination];
    add_part(job, part, settings);
    const JobFile& file = job.files[combination];
    if (file.output.keep_fields) { // which are not what is tried
        settings.emplace_back("output.keep_fields=false");
    }
    settings.push_back("output.file=" + toml_text(std::string_view(part_output(file, name))));
    if (!file.output.layout.chunk.empty()) {
        std::vector<std::int64_t> chunk = file.output.layout.chunk;
        const Box made = output_box(job, combination, part, part);
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

Box output_box(const TriedJob& job, std::size_t combination, const Box& part, const Box& box) {
    const std::size_t axes = box.first.size();
    Box made = box;
    for (std::size_t i = 0; i < axes; ++i) {
        const std::int64_t block = along(job.blocks[combination], i, axes, 1);
        made.first[i] = (box.first[i] - part.first[i]) / block;
        made.last[i] = made.first[i] + std::max<std::int64_t>(1, box.extent(i) / block);
    }
    return made;
}

} // namespace runner
