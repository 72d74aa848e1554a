// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/step_tables.hpp"

#include "jobs/toml_text.hpp"
#include "runner/job_file/file_names.hpp"
#include "runner/job_file/table_values.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

namespace runner {
namespace {

bool is_number_text(const std::string& text) {
    return !text.empty() && std::all_of(text.begin(), text.end(),
                                        [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// The name that a step's table gives it, before any of it is checked.
std::string given_name(const TableEntries& table) {
    for (const TableEntry& entry : table) {
        const auto* text = std::get_if<std::string>(&entry.value.data);
        if (entry.key == "name" && text != nullptr) {
            return *text;
        }
    }
    return "";
}

void check_name(TableReader& table, const std::string& name,
                const std::vector<StepParameters>& before) {
    if (!table.text("name")) {
        return;
    }
    if (name.empty() || is_number_text(name) || name.find_first_of(".\n") != std::string::npos) {
        table.complain("name", "must be a word, not a number or empty and without a dot, got " +
                                   quoted_text(name));
    }
    if (std::any_of(before.begin(), before.end(),
                    [&](const StepParameters& step) { return step.name == name; })) {
        table.complain("name", "another step has this name, " + quoted_text(name));
    }
}

/// Which steps there are, for messages: `1, 2 ("smooth")`.
std::string steps_text(const std::vector<StepParameters>& steps) {
    std::string text;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(i + 1) +
                (steps[i].name.empty() ? "" : " (" + quoted_text(steps[i].name) + ")");
    }
    return text;
}

/// How many steps there are up to the one that `key` names; all without that key.
std::size_t count_until(TableReader& top, const char* key,
                        const std::vector<StepParameters>& steps) {
    const std::optional<std::string> until = top.text(key);
    if (!until) {
        return steps.size();
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].name == *until || std::to_string(i + 1) == *until) {
            return i + 1;
        }
    }
    top.complain(key, "there is no step " + quoted_text(*until) + "; the steps are " +
                          steps_text(steps));
    return steps.size();
}

/// Cuts off the steps behind the one that `until_saved` names.
void cut_until_saved(TableReader& top, std::vector<StepParameters>& steps, Steps& found) {
    constexpr const char* key = "until_saved";
    if (!top.has(key)) {
        return;
    }
    steps.resize(count_until(top, key, steps));
    found.only_save = steps.back().save;
    if (found.only_save.empty()) {
        top.complain(key, steps.back().label + " saves nothing; the key until stops there");
    }
}

/// Reads one step of `all`; its kind, or null where none is named.
const Kind* parse_step(const TableEntries& values, SourcePlace place, const std::string& path,
                       Diagnostics& diagnostics, std::size_t all,
                       std::vector<StepParameters>& steps) {
    const std::string number = std::to_string(steps.size() + 1);
    StepParameters step;
    step.number = steps.size() + 1;
    step.name = given_name(values);
    step.label = "step " + number + (step.name.empty() ? "" : " (" + quoted_text(step.name) + ")");
    step.where = path + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
    TableReader table(values, place, "step." + (step.name.empty() ? number : step.name),
                      diagnostics);
    check_name(table, step.name, steps);
    const Kind* kind = nullptr;
    if (table.has("kind")) {
        kind = kind_named_by(table);
    } else {
        table.missing("kind", "kind = " + quoted_text(kinds().front().name) +
                                  " (`runner --help` lists the kinds)");
    }
    step.type = parse_type(table, "dtype");
    if (const std::optional<std::string> save = table.text("save")) {
        step.save = *save;
        if (save->empty()) {
            table.complain("save", "must be the name of a file");
        } else if (steps.size() + 1 == all) {
            table.complain("save", "the last step's output is output.file; leave save out");
        }
    }
    if (kind != nullptr) {
        step.kind = kind->name;
        step.parameters = kind->parse(table);
        table.finish();
    }
    steps.push_back(std::move(step));
    return kind;
}

} // namespace

const Kind* kind_named_by(TableReader& table) {
    std::vector<std::string> names;
    for (const Kind& kind : kinds()) {
        names.emplace_back(kind.name);
    }
    const std::optional<std::size_t> index = table.choice("kind", names);
    return index ? &kinds()[*index] : nullptr;
}

Steps parse_steps(TableReader& top, const std::string& path) {
    Steps found;
    const TableValue* value = top.value("step");
    if (value == nullptr) {
        for (const char* key : {"until", "until_saved"}) {
            if (top.has(key)) {
                top.complain(key, "only a pipeline has steps: remove this key");
            }
        }
        return found;
    }
    found.are_there = true;
    const auto* tables = std::get_if<TableArray>(&value->data);
    const bool all_tables =
        tables != nullptr && !tables->empty() &&
        std::all_of(tables->begin(), tables->end(), [](const TableValue& table) {
            return std::holds_alternative<TableEntries>(table.data);
        });
    if (!all_tables || tables->size() > most_steps) {
        top.complain("step", "expected from 1 to " + std::to_string(most_steps) +
                                 " tables, each beginning with [[step]]");
        return found;
    }
    if (top.has("kind")) {
        top.complain("kind", "a job is of one kind or has steps: remove this key, or every "
                             "[[step]] table");
    }
    std::vector<StepParameters> steps;
    std::vector<const Kind*> kinds_of_steps;
    for (const TableValue& table : *tables) {
        kinds_of_steps.push_back(parse_step(std::get<TableEntries>(table.data), table.place, path,
                                            top.diagnostics(), tables->size(), steps));
    }
    const std::size_t count = count_until(top, "until", steps);
    found.first = kinds_of_steps.front();
    found.last = kinds_of_steps[count - 1];
    steps.resize(count);
    cut_until_saved(top, steps, found);
    if (std::all_of(steps.begin(), steps.end(),
                    [](const StepParameters& step) { return step.parameters != nullptr; })) {
        found.parameters = std::make_shared<PipelineParameters>(std::move(steps));
    }
    return found;
}

} // namespace runner
