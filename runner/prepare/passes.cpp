// SPDX-License-Identifier: BSD-3-Clause
#include "runner/prepare/passes.hpp"

#include "base/text.hpp"
#include "jobs/toml_text.hpp"
#include "runner/job_file/file_names.hpp"
#include "runner/job_file/saved_steps.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace runner {
namespace {

/// In a group, so that the attributes of the input's group pass through.
constexpr const char* intermediate_dataset = "/pass/data";

/// Nobody but the next pass reads the file, so it has the form that is written fastest, whatever
/// the job's output has. A number that the job file names is what its user knows to be fast.
std::optional<std::int64_t> parts_between(const std::optional<std::int64_t>& parts_of_job) {
    return parts_of_job == 1 ? std::nullopt : parts_of_job;
}

/// The output of pass `index`, which is not the last.
JobFile::Output output_of_pass(const JobFile& whole, const PipelinePass& pass, std::size_t index) {
    JobFile::Output output;
    if (!pass.saved.empty()) {
        output = saved_output(whole, pass.saved);
    } else {
        output.file = intermediate_file(whole.output.file, index);
        output.dataset = intermediate_dataset;
        output.sync = whole.output.sync;
        output.parts = parts_between(whole.output.parts);
    }
    return output;
}

/// How messages name what the pass makes; empty where a step saves it under a name of its own.
std::string text_after(const JobFile& whole, const PipelinePass& pass) {
    const StepParameters& step = whole.pipeline->steps()[pass.first + pass.steps.size() - 1];
    return pass.saved.empty() ? "after " + step.label + ", " + step.kind : "";
}

/// What is true of a scan's setup of what pass `index` reads.
ScanSetup setup_before(ScanSetup setup, const std::vector<PipelinePass>& passes,
                       std::size_t index) {
    for (std::size_t i = 0; i < index; ++i) {
        for (const StepFacts& step : passes[i].steps) {
            setup = setup_after(*step.job, std::move(setup));
        }
    }
    return setup;
}

/// Which axes of the job's source those of what pass `index` reads are.
std::vector<std::int64_t> axes_before(std::vector<std::int64_t> axes,
                                      const std::vector<PipelinePass>& passes, std::size_t index) {
    for (std::size_t i = 0; i < index; ++i) {
        for (const StepFacts& step : passes[i].steps) {
            axes = source_axes_after(*step.job, std::move(axes));
        }
    }
    return axes;
}

/// The place of pass `index` of the prepared job.
PassPlace place_of_pass(const PreparedJob& prepared, const JobInput& input,
                        const std::vector<PipelinePass>& passes, std::size_t index) {
    const JobFile& whole = prepared.file;
    PassPlace place;
    if (index > 0) {
        InputOrigin origin; // clang 14 cannot emplace it
        origin.file = whole.input.file;
        origin.dataset = whole.input.dataset;
        origin.after = text_after(whole, passes[index - 1]);
        origin.info = prepared.input;
        origin.rules = whole.input.rules;
        origin.roles = input.roles;
        origin.part = input.part;
        origin.axes = axes_before(input.source_axes, passes, index);
        origin.invalid = passes[index].invalid;
        origin.invalid_rule = input.invalid_rule;
        origin.mask = prepared.mask;
        origin.masked = prepared.input.invalid_value.value_or(0);
        origin.setup = setup_before(input.setup, passes, index);
        place.origin = std::move(origin);
    }
    if (index + 1 < passes.size()) {
        place.of_job = whole.output.file;
        place.is_between = passes[index].saved.empty();
    }
    return place;
}

/// The job of pass `index` of several.
JobFile file_of_pass(const JobFile& whole, const std::vector<PipelinePass>& passes,
                     std::size_t index) {
    const PipelinePass& pass = passes[index];
    JobFile file = whole;
    file.pipeline =
        std::make_shared<PipelineParameters>(whole.pipeline->part(pass.first, pass.steps.size()));
    file.parameters = file.pipeline;
    if (index > 0) {
        const JobFile::Output made = output_of_pass(whole, passes[index - 1], index - 1);
        file.input = {};
        file.input.file = made.file;
        file.input.dataset = made.dataset;
    }
    if (index + 1 < passes.size()) {
        file.output = output_of_pass(whole, pass, index);
        file.datasets = {};
    }
    return file;
}

/// Records in each pass what those before the one before it keep.
void tell_kept(std::vector<JobPass>& passes) {
    std::vector<std::pair<std::string, std::int64_t>> kept;
    for (std::size_t i = 2; i < passes.size(); ++i) {
        if (passes[i - 2].is_kept) {
            kept.emplace_back(passes[i - 2].file.output.file,
                              byte_count(passes[i - 1].input.array));
        }
        passes[i].place.origin->kept = kept;
    }
}

/// Says of each step what it does along the axes of its input. Returns the axes of each pass'
/// input.
std::vector<Axes> follow_axes(Axes axes, std::vector<PipelinePass>& passes) {
    std::vector<Axes> inputs;
    for (PipelinePass& pass : passes) {
        inputs.push_back(axes);
        for (StepFacts& step : pass.steps) {
            step.axes = work_of(*step.job, step.input, axes);
            axes = axes_after(*step.job, std::move(axes));
        }
    }
    return inputs;
}

} // namespace

std::vector<JobPass> passes_of(const JobFile& file, FileAccess& files, RowOrders orders) {
    if (!file.pipeline) {
        return {{file, {}, {}, {}, ""}};
    }
    const PreparedJob prepared = prepare_input(file, files);
    const JobInput input = job_input(prepared, files);
    std::vector<PipelinePass> passes = file.pipeline->passes(input, file.output.type, orders);
    const std::vector<Axes> axes = follow_axes(prepared.input.axes, passes);
    if (file.output.keep_fields && passes.size() > 1) {
        refuse_kept_frames("the job takes " + counted(std::ssize(passes), "pass", "passes") +
                               " over its data; the first ends before " + passes.front().end,
                           "Give the steps from there on a job of their own, which has it");
    }
    if (passes.size() == 1) {
        return {{file, {}, prepared.input, passes.front().steps, ""}};
    }
    std::vector<JobPass> all;
    for (std::size_t i = 0; i < passes.size(); ++i) {
        JobPass pass{file_of_pass(prepared.file, passes, i),
                     place_of_pass(prepared, input, passes, i),
                     prepared.input,
                     passes[i].steps,
                     passes[i].end,
                     prepared.settled};
        if (i > 0) {
            pass.input = {};
            pass.input.array = passes[i].steps.front().input;
            pass.input.channels = passes[i].channels;
            pass.place.origin->names = axes[i];
            pass.input.axes = axes[i];
            pass.input.invalid_value = passes[i].invalid;
            pass.input.storage = "contiguous";
        }
        if (!passes[i].saved.empty()) {
            pass.is_kept = true;
            const std::size_t step = passes[i].first + passes[i].steps.size() - 1;
            pass.settled.push_back("until_saved=" +
                                   toml_text(std::to_string(file.pipeline->steps()[step].number)));
        }
        all.push_back(std::move(pass));
    }
    tell_kept(all);
    return all;
}

PreparedJob prepare_pass(const JobPass& pass, FileAccess& files) {
    if (!pass.place.origin) {
        return prepare_job(pass.file, files, pass.place);
    }
    PreparedJob prepared;
    prepared.file = pass.file;
    prepared.place = pass.place;
    prepared.input = pass.input;
    prepared.layout.info = pass.input;
    return with_job(std::move(prepared), files);
}

std::string step_text(const StepFacts& step) {
    return type_text(step.input) + " " + shape_text(step.input.shape) + " to " +
           type_text(step.output) + " " + shape_text(step.output.shape) +
           (step.halo > 0 ? ", halo " + std::to_string(step.halo) : "") +
           (step.is_order ? ", as its rows are read" : "");
}

} // namespace runner
