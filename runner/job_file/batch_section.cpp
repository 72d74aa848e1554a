// SPDX-License-Identifier: BSD-3-Clause
#include "base/format.hpp"
#include "io/files/file_names.hpp"
#include "runner/job_file/job_sections.hpp"
#include "runner/job_file/output_name.hpp"

#include "jobs/toml_text.hpp"

#include <algorithm>
#include <filesystem>

namespace runner {
namespace {

constexpr const char* how_to_name_inputs =
    "inputs = [\"scans/**/*.h5\"], patterns and files, or inputs = \"list.txt\", a file that lists "
    "them";

/// What is wrong with a name; nothing where the system can take it.
std::optional<std::string> fault_of(const std::string& name) {
    if (name.empty()) {
        return "a name must not be empty";
    }
    if (name.find('\0') != std::string::npos) {
        return "must not hold the character U+0000, which ends a name for the system";
    }
    return std::nullopt;
}

void parse_patterns(TableReader& table, const TableArray& array, JobFile::Batch& batch) {
    for (const TableValue& element : array) {
        const auto* text = std::get_if<std::string>(&element.data);
        const std::optional<std::string> fault =
            text == nullptr
                ? "expected patterns of files as strings, got " + type_name(element) + " in it"
                : fault_of(*text);
        if (fault) {
            table.diagnostics().add(element.place, "batch.inputs: " + *fault);
        } else {
            batch.inputs.push_back({*text, element.place});
        }
    }
    if (array.empty()) {
        table.complain("inputs", "must name at least one input");
    }
}

void parse_inputs(TableReader& table, JobFile::Batch& batch) {
    const TableValue* value = table.value("inputs");
    if (value == nullptr) {
        table.missing("inputs", how_to_name_inputs);
    } else if (const auto* array = std::get_if<TableArray>(&value->data)) {
        parse_patterns(table, *array, batch);
    } else if (const auto* text = std::get_if<std::string>(&value->data)) {
        if (has_wildcards(*text)) {
            table.complain("inputs", "a string names a file that lists the inputs; write a pattern "
                                     "as [" +
                                         toml_text(*text) + "]");
        } else if (const std::optional<std::string> fault = fault_of(*text)) {
            table.complain("inputs", *fault);
        } else {
            batch.manifest = {*text, value->place};
        }
    } else {
        table.complain("inputs", "expected an array of strings or a string, got " +
                                     type_name(*value) + "; write " + how_to_name_inputs);
    }
}

void parse_output_pattern(TableReader& table, JobFile::Batch& batch) {
    if (!table.has("output")) {
        table.missing("output", "output = \"out/{stem}_{kind}.h5\"; there are {stem}, {dir}, "
                                "{kind} and {name}");
        return;
    }
    const std::optional<std::string> text = table.text("output");
    if (!text) {
        return;
    }
    batch.output = {*text, table.value("output")->place};
    if (const std::optional<NameFault> fault = name_fault(*text)) {
        table.complain(
            "output",
            fault->text + (fault->at == 0 ? "" : fmt::format(" (at character {})", fault->at + 1)));
    }
}

} // namespace

JobFile::Batch parse_batch(TableReader& top, const std::string& name) {
    JobFile::Batch batch;
    std::optional<TableReader> table = top.table("batch");
    if (!table) {
        return batch;
    }
    parse_inputs(*table, batch);
    parse_output_pattern(*table, batch);
    const std::optional<std::string> state = table->text("state");
    if (state && state->empty()) {
        table->complain("state", "must not be empty");
    }
    std::string plain = name;
    std::replace(plain.begin(), plain.end(), '/', '_');
    batch.state = state.value_or(
        (std::filesystem::path(common_folder(batch.output.text)) / (plain + ".state"))
            .lexically_normal()
            .string());
    table->finish();
    return batch;
}

} // namespace runner
