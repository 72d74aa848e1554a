// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/saved_steps.hpp"

#include "io/formats/rows_format.hpp"
#include "jobs/toml_text.hpp"
#include "runner/job_file/file_names.hpp"
#include "runner/job_file/output_name.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace runner {
namespace {

void check_name(TableReader& table, const JobFile& job, const StepParameters& step) {
    constexpr const char* key = "save";
    check_written_file(table, key, step.save, job.input.file);
    if (!is_hdf5_name(step.save) && output_name_fault(step.save).empty()) {
        table.complain(key, "a saved output is an HDF5 file, and this name is of " +
                                std::string(rows_format_of(step.save)->name) + "; name a .h5 file");
    }
    if (is_same_file(step.save, job.output.file)) {
        table.complain(key, quoted_text(step.save) + " is output.file; name another file");
    }
    for (const StepParameters& other : job.pipeline->steps()) {
        if (other.number < step.number && !other.save.empty() &&
            is_same_file(other.save, step.save)) {
            table.complain(key, other.label + " is saved in " + quoted_text(other.save) +
                                    ", which is the same file; name another");
        }
    }
}

} // namespace

JobFile::Output saved_output(const JobFile& job, const std::string& file) {
    JobFile::Output output;
    output.file = file;
    output.dataset = job.datasets.empty() ? job.output.dataset : job.input.dataset;
    output.overwrite = job.output.overwrite;
    output.sync = job.output.sync;
    return output;
}

void check_saves(TableReader& top, const JobFile& job, FileNames names) {
    const TableValue* const value = top.value("step");
    const auto* const tables = value == nullptr ? nullptr : std::get_if<TableArray>(&value->data);
    if (tables == nullptr || !job.pipeline) {
        return;
    }
    for (const StepParameters& step : job.pipeline->steps()) {
        if (step.save.empty()) {
            continue;
        }
        const TableValue& entry = (*tables)[step.number - 1];
        const std::string number = std::to_string(step.number);
        TableReader table(std::get<TableEntries>(entry.data), entry.place,
                          "step." + (step.name.empty() ? number : step.name), top.diagnostics());
        if (names == FileNames::own) {
            check_name(table, job, step);
        } else if (const std::optional<NameFault> fault = name_fault(step.save)) {
            table.complain("save", fault->text);
        }
    }
}

void expand_saves(JobFile& job) {
    std::vector<StepParameters> steps = job.pipeline->steps();
    for (StepParameters& step : steps) {
        if (!step.save.empty() && !name_fault(step.save)) {
            step.save = saved_name(job, step.save, job.input.file);
        }
    }
    job.pipeline = std::make_shared<PipelineParameters>(std::move(steps));
    job.parameters = job.pipeline;
}

std::string saved_name(const JobFile& job, const std::string& pattern, const std::string& input) {
    return output_name(pattern, {input, job.kind, job.name});
}

} // namespace runner
