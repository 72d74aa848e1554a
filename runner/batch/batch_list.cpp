// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch/batch_list.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "io/files/file_names.hpp"
#include "io/formats/rows_format.hpp"
#include "io/output/own_parts.hpp"
#include "jobs/toml_text.hpp"
#include "runner/job_file/output_name.hpp"
#include "runner/job_file/saved_steps.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <unordered_map>
#include <utility>

namespace runner::batch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_faults_told = 20;

std::string place_text(const JobFile& job, const SourcePlace& place) {
    return place.setting > 0 ? "--set batch.inputs"
                             : fmt::format("{}:{}:{}", job.path, place.line, place.column);
}

std::string normal(const std::string& path) { return fs::path(path).lexically_normal().string(); }

bool is_folder_of_format(const std::string& path) {
    const RowsFormat* const format = rows_format_of(path);
    return format != nullptr && format->folder != nullptr;
}

/// Adds the links among what patterns name that lead to nothing to `missing`.
std::vector<ManifestEntry> entries_of_patterns(const JobFile& job,
                                               std::vector<std::string>& missing) {
    std::map<std::string, std::string> found; // input → place
    for (const JobFile::Text& pattern : job.batch->inputs) {
        const std::string place = place_text(job, pattern.place);
        if (!has_wildcards(pattern.text)) {
            found.emplace(normal(pattern.text), place);
            continue;
        }
        const NamedFiles named = expand_pattern(pattern.text, is_folder_of_format);
        missing.insert(missing.end(), named.missing.begin(), named.missing.end());
        if (named.files.empty() && named.missing.empty()) {
            throw Error(ExitCode::input,
                        {"no file is named like this input", place, quoted_text(pattern.text),
                         "Paths are relative to the working directory; `**` stands for folders"});
        }
        for (const std::string& file : named.files) {
            found.emplace(file, place);
        }
    }
    std::vector<ManifestEntry> entries;
    entries.reserve(found.size());
    for (const auto& [input, place] : found) {
        entries.push_back({input, std::nullopt, {}, place});
    }
    return entries;
}

/// The manifest's, an input that stands in it twice with the same settings once.
std::vector<ManifestEntry> entries_of_manifest(const std::string& path) {
    std::vector<ManifestEntry> all = read_manifest(path);
    std::set<std::vector<std::string>> seen;
    std::vector<ManifestEntry> entries;
    for (ManifestEntry& entry : all) {
        entry.input = normal(entry.input);
        std::vector<std::string> what = {entry.input, entry.output.value_or("")};
        for (const ManifestEntry::Setting& setting : entry.settings) {
            what.push_back(setting.text);
        }
        if (seen.insert(std::move(what)).second) {
            entries.push_back(std::move(entry));
        }
    }
    return entries;
}

/// Moves the inputs that are not there from the entries to `missing`.
void take_missing(std::vector<ManifestEntry>& entries, std::vector<std::string>& missing) {
    const auto is_missing = [](const ManifestEntry& entry) {
        std::error_code failure;
        return !has_wildcards(entry.input) &&
               fs::status(entry.input, failure).type() == fs::file_type::not_found;
    };
    const auto gone =
        std::stable_partition(entries.begin(), entries.end(), std::not_fn(is_missing));
    std::transform(gone, entries.end(), std::back_inserter(missing),
                   [](const ManifestEntry& entry) { return entry.input; });
    entries.erase(gone, entries.end());
    std::sort(missing.begin(), missing.end());
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
}

/// What is said of inputs that are left out; "" where none are. @throws Error (input) where they
/// are not to be left out, or nothing is left.
std::string missing_note(const JobFile& job, const std::vector<std::string>& missing,
                         bool any_left) {
    if (missing.empty()) {
        return "";
    }
    const ErrorText text = missing_text("an input of the batch is not there", job.path, missing);
    if (job.input.rules.missing != InputRules::Missing::skip || !any_left) {
        throw Error(ExitCode::input, text);
    }
    return format_error({"inputs are left out of the batch", text.where, text.why, ""});
}

/// Tells one file by one name, as far as folders lead to it through links; each folder is inspected
/// once.
class RealNames {
  public:
    std::string of(const std::string& path) {
        const fs::path whole(path);
        const std::string folder = whole.parent_path().string();
        auto known = folders_.find(folder);
        if (known == folders_.end()) {
            std::error_code failure;
            const fs::path real = fs::weakly_canonical(folder.empty() ? "." : folder, failure);
            known = folders_.emplace(folder, failure ? folder : real.string()).first;
        }
        return known->second + "/" + whole.filename().string();
    }

  private:
    std::unordered_map<std::string, std::string> folders_;
};

/// What is wrong with the names of a batch, gathered.
class NameErrors {
  public:
    void add(const std::string& place, const std::string& text) {
        if (++count_ <= most_faults_told) {
            text_ += "\n" + place + ": " + text;
        }
    }
    void refuse(const std::string& path) const {
        if (count_ > 0) {
            throw Error(ExitCode::usage,
                        {fmt::format("the names of the batch do not fit ({}): {}{}{}", path, count_,
                                     (count_ == 1 ? " error" : " errors"), text_),
                         "", "", ""});
        }
    }

  private:
    std::size_t count_ = 0;
    std::string text_;
};

void check_names(const JobFile& job, const std::vector<ManifestEntry>& entries,
                 const std::vector<Dataset>& datasets) {
    NameErrors errors;
    RealNames real;
    std::unordered_map<std::string, std::size_t> inputs;
    std::unordered_map<std::string, std::size_t> outputs;
    for (std::size_t i = 0; i < datasets.size(); ++i) {
        inputs.emplace(real.of(datasets[i].input), i);
    }
    const auto check = [&](std::size_t i, const std::string& output) {
        const std::string& place = entries[i].place;
        if (!is_utf8(datasets[i].input) || !is_utf8(output)) {
            errors.add(place, quoted_text(datasets[i].input) +
                                  " is no text of UTF-8, which a job file is; rename the file");
            return;
        }
        if (const std::string fault = output_name_fault(output); !fault.empty()) {
            errors.add(place, quoted_text(output) + " " + fault);
        }
        const auto [other, is_new] = outputs.emplace(real.of(output), i);
        if (!is_new) {
            errors.add(place, quoted_text(datasets[i].input) + " and " +
                                  quoted_text(datasets[other->second].input) +
                                  " would both be written as " + quoted_text(output) +
                                  "; use {dir} and {stem} in batch.output and save");
        }
        std::vector<std::string> names = names_on_the_way(output);
        names.insert(names.begin(), output);
        for (const std::string& name : names) {
            const auto input = inputs.find(real.of(name));
            if (input != inputs.end()) {
                errors.add(place, quoted_text(datasets[i].input) + " would be written as " +
                                      quoted_text(name) +
                                      ", which is itself an input of the batch");
            }
            for (const JobFile::Text& pattern : job.batch->inputs) {
                if (input == inputs.end() && has_wildcards(pattern.text) &&
                    matches_pattern(normal(pattern.text), name)) {
                    errors.add(place_text(job, pattern.place),
                               "batch.inputs: " + quoted_text(pattern.text) +
                                   " would take the output " + quoted_text(name) +
                                   " for an input the next time; put the outputs elsewhere");
                }
            }
        }
    };
    for (std::size_t i = 0; i < datasets.size(); ++i) {
        check(i, datasets[i].output);
        for (const std::string& file : datasets[i].saves) {
            check(i, file);
        }
    }
    errors.refuse(job.path);
}

/// Refuses inputs that the patterns of the job make no good name of.
void check_patterns(const JobFile& job, const std::vector<ManifestEntry>& entries) {
    std::vector<std::string> saves;
    for (const StepParameters& step :
         job.pipeline ? job.pipeline->steps() : std::vector<StepParameters>{}) {
        if (!step.save.empty()) {
            saves.push_back(step.save);
        }
    }
    NameErrors errors;
    for (const ManifestEntry& entry : entries) {
        std::vector<std::string> patterns = saves;
        if (!entry.output) {
            patterns.push_back(job.batch->output.text);
        }
        for (const std::string& pattern : patterns) {
            if (const auto fault = filling_fault(pattern, {entry.input, job.kind, job.name})) {
                errors.add(entry.place, *fault);
            }
        }
    }
    errors.refuse(job.path);
}

/// The files that steps of the dataset's job save.
std::vector<std::string> saves_of(const Dataset& dataset, const JobFile& job,
                                  std::span<const std::string> settings) {
    std::vector<std::string> saves;
    const auto take = [&saves](const JobFile& from, const auto& name_of) {
        for (const StepParameters& step :
             from.pipeline ? from.pipeline->steps() : std::vector<StepParameters>{}) {
            if (!step.save.empty()) {
                saves.push_back(name_of(step.save));
            }
        }
    };
    if (dataset.settings.empty()) {
        take(job, [&](const std::string& save) { return saved_name(job, save, dataset.input); });
    } else if (job.pipeline) {
        try {
            take(job_for(dataset, job, settings), [](const std::string& save) { return save; });
        } catch (const Error&) { // reported when the dataset is inspected
        }
    }
    return saves;
}

} // namespace

List list_datasets(const JobFile& job, std::span<const std::string> settings) {
    const JobFile::Batch& batch = *job.batch;
    std::vector<std::string> missing;
    std::vector<ManifestEntry> entries = batch.manifest ? entries_of_manifest(batch.manifest->text)
                                                        : entries_of_patterns(job, missing);
    take_missing(entries, missing);
    List list;
    list.note = missing_note(job, missing, !entries.empty());
    std::vector<Dataset>& datasets = list.datasets;
    datasets.reserve(entries.size());
    check_patterns(job, entries);
    for (const ManifestEntry& entry : entries) {
        datasets.push_back({entry.input,
                            entry.output
                                ? normal(*entry.output)
                                : output_name(batch.output.text, {entry.input, job.kind, job.name}),
                            entry.settings});
        datasets.back().saves = saves_of(datasets.back(), job, settings);
    }
    check_names(job, entries, datasets);
    return list;
}

std::vector<std::string> settings_for(const Dataset& dataset,
                                      std::span<const std::string> settings) {
    std::vector<std::string> all(settings.begin(), settings.end());
    for (const ManifestEntry::Setting& setting : dataset.settings) {
        all.push_back(setting.text);
    }
    all.push_back("input.file=" + toml_text(dataset.input));
    all.push_back("output.file=" + toml_text(dataset.output));
    return all;
}

JobFile job_for(const Dataset& dataset, const JobFile& batch,
                std::span<const std::string> settings) {
    const std::vector<std::string> all = settings_for(dataset, settings);
    std::vector<std::string> called(settings.size());
    for (const ManifestEntry::Setting& setting : dataset.settings) {
        called.push_back(setting.place);
    }
    called.push_back(dataset.input);
    called.push_back(dataset.output);
    return parse_job_text(batch.text, batch.path, all, called);
}

} // namespace runner::batch
