// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file.hpp"

#include "base/error.hpp"
#include "jobs/toml_text.hpp"
#include "runner/job_sections.hpp"
#include "runner/job_text.hpp"
#include "runner/toml_values.hpp"

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <utility>

namespace runner {
namespace {

std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    for (const Kind& kind : kinds()) {
        names.emplace_back(kind.name);
    }
    return names;
}

/// The kind that the top of the file names, reported where it names none.
const Kind* parse_kind(TableReader& top) {
    const std::vector<std::string> names = kind_names();
    if (!top.has("kind")) {
        top.missing("kind", "kind = \"" + names.front() + "\" (`runner --help` lists the kinds)");
        return nullptr;
    }
    const std::optional<std::size_t> index = top.choice("kind", names);
    return index ? &kinds()[*index] : nullptr;
}

/// Reports the tables that a job of this kind does not read, so that none is silently ignored.
void refuse_other_tables(TableReader& top, const TableEntries& values, const Kind& kind) {
    const std::vector<std::string> read = {"input", "output", "run", std::string(kind.name)};
    for (const auto& [key, value] : values) {
        if (!std::holds_alternative<TableEntries>(value.data) || key == "batch" || key == "kind" ||
            key == "name" || std::find(read.begin(), read.end(), key) != read.end()) {
            continue;
        }
        const std::optional<std::string> near = nearest_name(key, read);
        top.complain(key,
                     "a job of kind " + read.back() + " has no such table" +
                         (near ? "; did you mean [" + *near + "]?"
                               : "; it reads [input], [output], [run] and [" + read.back() + "]"));
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

void parse_values(const TableEntries& values, JobFile& job, Diagnostics& diagnostics) {
    TableReader top(values, {1, 1}, "", diagnostics);
    const Kind* kind = parse_kind(top);
    job.name = std::filesystem::path(job.path).stem().string();
    if (const std::optional<std::string> name = top.text("name")) {
        job.name = *name;
        if (name->empty()) {
            top.complain("name", "must not be empty");
        }
    }
    job.input = parse_input(top, kind == nullptr ? "" : kind->dataset);
    const bool is_sand = kind == nullptr || kind->name == "sand";
    job.output = parse_output(top, job.input, is_sand ? SandFiles::allowed : SandFiles::none,
                              kind == nullptr || kind->datasets.empty() ? OutputPlace::dataset
                                                                        : OutputPlace::group);
    job.run = parse_run(top);
    if (kind != nullptr) {
        job.kind = kind->name;
        job.parameters = parse_parameters(top, *kind);
        refuse_other_tables(top, values, *kind);
    } else {
        for (const auto& [key, value] : values) {
            // Whose tables these are is known once the kind is.
            if (std::holds_alternative<TableEntries>(value.data)) {
                static_cast<void>(top.has(key));
            }
        }
    }
    if (top.has("batch")) {
        top.complain("batch", "this version runs one dataset a job and has no batches");
    }
    top.finish();
}

/// A setting as messages name it, on one line.
std::string setting_text(const std::string& setting) {
    const bool plain = setting.size() <= 200 &&
                       std::none_of(setting.begin(), setting.end(),
                                    [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    return "--set " + (plain ? setting : quoted_text(setting));
}

/// Every error on a line of its own, in the order of the file, the settings' after it.
[[noreturn]] void refuse(const std::string& path, const Diagnostics& diagnostics,
                         std::span<const std::string> settings) {
    std::vector<Diagnostics::Entry> entries = diagnostics.entries();
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return std::tie(a.place.setting, a.place.line, a.place.column) <
               std::tie(b.place.setting, b.place.line, b.place.column);
    });
    std::string what = "the job file is wrong (" + path + "): " + std::to_string(entries.size()) +
                       (entries.size() == 1 ? " error" : " errors");
    for (const auto& [place, text] : entries) {
        what += "\n" + (place.setting > 0
                            ? setting_text(settings[static_cast<std::size_t>(place.setting - 1)])
                            : path + ":" + std::to_string(place.line) + ":" +
                                  std::to_string(place.column));
        what += ": " + text;
    }
    throw Error(ExitCode::usage, {what, "", "", ""});
}

} // namespace

JobFile load_job_file(const std::string& path, std::span<const std::string> settings) {
    return parse_job_text(read_job_text(path), path, settings);
}

JobFile parse_job_text(const std::string& text, const std::string& name,
                       std::span<const std::string> settings) {
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
        refuse(name, diagnostics, settings);
    }
    return job;
}

} // namespace runner
