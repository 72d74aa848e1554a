// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/passes.hpp"

#include <memory>
#include <utility>

namespace runner {
namespace {

/// In a group, so that the attributes of the input's group pass through.
constexpr const char* intermediate_dataset = "/pass/data";

/// The job of pass `index` of several.
JobFile file_of_pass(const JobFile& whole, const JobInput& input,
                     const std::vector<PipelinePass>& passes, std::size_t index) {
    const PipelinePass& pass = passes[index];
    JobFile file = whole;
    file.pipeline =
        std::make_shared<PipelineParameters>(whole.pipeline->part(pass.first, pass.steps.size()));
    file.parameters = file.pipeline;
    if (index > 0) {
        file.input = {};
        file.input.file = intermediate_file(whole.output.file, index - 1);
        file.input.dataset = intermediate_dataset;
        file.input.origin = {whole.input.file, whole.input.dataset, "",
                             input.image_key,  input.part,          {}};
    }
    if (index + 1 < passes.size()) {
        file.output = {};
        file.output.file = intermediate_file(whole.output.file, index);
        file.output.dataset = intermediate_dataset;
        file.output.sync = whole.output.sync;
        file.output.overwrite = true; // what is left of another job
        file.datasets = {};
    }
    return file;
}

} // namespace

std::string intermediate_file(const std::string& output, std::size_t index) {
    return output + ".pass-" + std::to_string(index + 1) + ".h5";
}

std::vector<JobPass> passes_of(const JobFile& file, FileAccess& files) {
    if (!file.pipeline) {
        return {{file, {}, {}, ""}};
    }
    const PreparedJob prepared = prepare_input(file, files);
    const JobInput input = job_input(prepared, files);
    const std::vector<PipelinePass> passes = file.pipeline->passes(input, file.output.type);
    if (passes.size() == 1) {
        return {{file, prepared.input, passes.front().steps, ""}};
    }
    std::vector<JobPass> all;
    for (std::size_t i = 0; i < passes.size(); ++i) {
        JobPass pass{file_of_pass(prepared.file, input, passes, i), prepared.input, passes[i].steps,
                     passes[i].end, prepared.settled};
        if (i > 0) {
            pass.input = {};
            pass.input.array = passes[i].steps.front().input;
            pass.input.channels = passes[i].channels;
            pass.input.storage = "contiguous";
        }
        all.push_back(std::move(pass));
    }
    return all;
}

PreparedJob prepare_pass(const JobPass& pass, FileAccess& files) {
    if (!pass.file.input.origin) {
        return prepare_job(pass.file, files);
    }
    PreparedJob prepared;
    prepared.file = pass.file;
    prepared.input = pass.input;
    prepared.layout.info = pass.input;
    return with_job(std::move(prepared), files);
}

std::string step_text(const StepFacts& step) {
    return type_text(step.input) + " " + shape_text(step.input.shape) + " to " +
           type_text(step.output) + " " + shape_text(step.output.shape) +
           (step.halo > 0 ? ", halo " + std::to_string(step.halo) : "");
}

} // namespace runner
