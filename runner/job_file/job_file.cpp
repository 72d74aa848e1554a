// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/job_file.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "jobs/toml_text.hpp"
#include "runner/job_file/job_sections.hpp"
#include "runner/job_file/job_text.hpp"
#include "runner/job_file/output_name.hpp"
#include "runner/job_file/saved_steps.hpp"
#include "runner/job_file/step_tables.hpp"
#include "runner/toml/toml_errors.hpp"
#include "runner/toml/toml_values.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace runner {
namespace {

/// The kind that the top of the file names, reported where it names none.
const Kind* parse_kind(TableReader& top) {
    if (!top.has("kind")) {
        top.missing("kind", "kind = " + quoted_text(kinds().front().name) +
                                " (`runner --help` lists the kinds), or the steps of a pipeline, "
                                "each a table [[step]]");
        return nullptr;
    }
    return kind_named_by(top);
}

/// Where the top names no kind there is: the one kind that has a table in the file, so that this is
/// checked all the same.
const Kind* kind_of_tables(const TableEntries& values) {
    const Kind* found = nullptr;
    for (const auto& [key, value] : values) {
        for (const Kind& kind : kinds()) {
            if (key == kind.name && std::holds_alternative<TableEntries>(value.data)) {
                if (found != nullptr) {
                    return nullptr;
                }
                found = &kind;
            }
        }
    }
    return found;
}

/// Reports the tables that the job does not read, so that none is silently ignored. `own`: that of
/// its kind, or "step".
void refuse_other_tables(TableReader& top, const TableEntries& values, std::string_view own) {
    const bool steps = own == "step";
    const std::vector<std::string> read = {"input", "output", "run",
                                           "batch", "sweep",  std::string(own)};
    const std::string job = steps ? "a pipeline" : "a job of kind " + read.back();
    const std::string table = steps ? "[[step]]" : "[" + read.back() + "]";
    for (const auto& [key, value] : values) {
        if (!std::holds_alternative<TableEntries>(value.data) || key == "kind" || key == "name" ||
            std::find(read.begin(), read.end(), key) != read.end()) {
            continue;
        }
        const std::optional<std::string> near = nearest_name(key, read);
        top.complain(
            key, job + " has no such table" +
                     (near ? "; did you mean [" + *near + "]?"
                           : "; it reads [input], [output], [run], [batch], [sweep] and " + table));
    }
}

/// Reports an output.dtype that is not the last step's.
void refuse_other_type(TableReader& top, const JobFile::Output& output,
                       const PipelineParameters* pipeline) {
    std::optional<TableReader> table = top.table("output");
    if (!table || !output.type || pipeline == nullptr) {
        return;
    }
    const StepParameters& last = pipeline->steps().back();
    if (last.type && last.type != output.type) {
        table->complain("dtype", "it is " + std::string(name_of(*output.type)) + ", and " +
                                     last.label + ", which makes the output, says dtype = \"" +
                                     std::string(name_of(*last.type)) + "\"; leave one out");
    }
}

std::shared_ptr<const KindParameters> parse_parameters(TableReader& top, const Kind& kind) {
    const std::string name(kind.name);
    if (!top.has(name)) {
        top.missing(name, "a table [" + name + "] (`runner init " + name + "` shows one)");
        return nullptr;
    }
    std::optional<TableReader> table = top.table(name);
    if (!table) {
        return nullptr;
    }
    std::shared_ptr<const KindParameters> parameters = kind.parse(*table);
    table->finish();
    return parameters;
}

/// Whether a setting gives table.key.
bool is_set(const TableEntries& values, std::string_view table, std::string_view key) {
    for (const auto& [name, value] : values) {
        const auto* entries = std::get_if<TableEntries>(&value.data);
        if (name != table || entries == nullptr) {
            continue;
        }
        return std::any_of(entries->begin(), entries->end(), [&](const TableEntry& entry) {
            return entry.key == key && entry.value.place.setting > 0;
        });
    }
    return false;
}

/// The steps of a pipeline, with what they save.
void take_steps(TableReader& top, const TableEntries& values, const Steps& steps, FileNames names,
                JobFile& job) {
    job.kind = pipeline_kind;
    job.pipeline = steps.parameters;
    job.parameters = steps.parameters;
    if (!steps.only_save.empty()) {
        job.output = saved_output(job, steps.only_save);
        job.datasets = {};
    }
    refuse_other_type(top, job.output, job.pipeline.get());
    refuse_other_tables(top, values, "step");
    if (top.has("batch") && names == FileNames::own && job.pipeline) {
        if (!steps.only_save.empty() && !name_fault(steps.only_save)) {
            job.output.file = saved_name(job, steps.only_save, job.input.file);
        }
        expand_saves(job);
    }
    if (!steps.only_save.empty() && names == FileNames::batch) {
        top.complain("until_saved", "a batch makes its outputs, not what a step saves");
    }
    check_saves(top, job, names);
}

void parse_values(const TableEntries& values, JobFile& job, Diagnostics& diagnostics) {
    TableReader top(values, {1, 1}, "", diagnostics);
    const bool picked = is_set(values, "input", "file") && is_set(values, "output", "file");
    const bool batch = top.has("batch") && !picked;
    const FileNames names = batch ? FileNames::batch : FileNames::own;
    Steps steps = parse_steps(top, job.path);
    const Kind* kind = steps.are_there ? nullptr : parse_kind(top);
    if (kind == nullptr && !steps.are_there) {
        kind = kind_of_tables(values);
    }
    const Kind* const first = steps.are_there ? steps.first : kind;
    const Kind* const last = steps.are_there ? steps.last : kind;
    job.name = std::filesystem::path(job.path).stem().string();
    if (const std::optional<std::string> name = top.text("name")) {
        job.name = *name;
        if (name->empty()) {
            top.complain("name", "must not be empty");
        }
    }
    if (batch) {
        job.batch = parse_batch(top, job.name);
    }
    job.input = parse_input(top, first == nullptr ? "" : first->dataset, names);
    job.output = parse_output(top, job.input, last, job.batch ? &*job.batch : nullptr);
    job.run = parse_run(top);
    job.sweep = parse_sweep(top);
    if (last != nullptr) {
        job.datasets = last->datasets;
    }
    if (steps.are_there) {
        take_steps(top, values, steps, names, job);
    } else if (kind != nullptr) {
        job.kind = kind->name;
        job.parameters = parse_parameters(top, *kind);
        refuse_other_tables(top, values, kind->name);
    } else {
        for (const auto& [key, value] : values) {
            // Whose tables these are is known once the kind is.
            if (std::holds_alternative<TableEntries>(value.data)) {
                static_cast<void>(top.has(key));
            }
        }
    }
    top.finish();
}

} // namespace

JobFile load_job_file(const std::string& path, std::span<const std::string> settings) {
    return parse_job_text(read_job_text(path), path, settings);
}

JobFile parse_job_text(const std::string& text, const std::string& name,
                       std::span<const std::string> settings, std::span<const std::string> called) {
    JobFile job;
    job.path = name;
    job.text = text;
    Diagnostics diagnostics;
    std::optional<TableEntries> values = parse_toml(job.text, 0, diagnostics);
    if (values) {
        for (std::size_t i = 0; i < settings.size(); ++i) {
            apply_setting(settings[i], static_cast<int>(i) + 1, *values, diagnostics);
        }
        parse_values(*values, job, diagnostics);
    }
    if (!diagnostics.entries().empty()) {
        refuse_toml("the job file is wrong", name, diagnostics, settings, called);
    }
    return job;
}

std::set<std::string> known_keys(const std::string& text) {
    JobFile job;
    Diagnostics diagnostics;
    if (const std::optional<TableEntries> values = parse_toml(text, 0, diagnostics)) {
        parse_values(*values, job, diagnostics);
    }
    return diagnostics.keys();
}

void require_one_dataset(const JobFile& job) {
    if (job.batch) {
        throw Error(ExitCode::usage,
                    {"the job is a batch of datasets", job.path, "it has a table [batch]",
                     "Run it with `runner batch " + shell_word(job.path) +
                         "`, or name one dataset with --set input.file and --set output.file"});
    }
}

} // namespace runner
