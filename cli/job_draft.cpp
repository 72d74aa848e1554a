// SPDX-License-Identifier: BSD-3-Clause
#include "cli/job_draft.hpp"

#include "jobs/toml_text.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/toml/setting_value.hpp"

#include <algorithm>
#include <utility>

namespace runner {

JobDraft::JobDraft(std::string name, std::vector<std::string> kinds, Form form)
    : name_(std::move(name)), kinds_(std::move(kinds)), form_(form) {}

void JobDraft::set(const std::string& setting, const std::string& called) {
    settings_.push_back(setting);
    called_.push_back(called);
}

void JobDraft::set_key(std::size_t step, const std::string& key, const std::string& value,
                       const std::string& called) {
    const std::string table =
        form_ == Form::kind ? kinds_.front() : "step." + std::to_string(step + 1);
    set(table + "." + key + "=" + value, called);
}

/// The tables that settings are laid over, without any of them.
std::string JobDraft::skeleton() const {
    if (form_ == Form::kind) {
        return "kind = " + toml_text(kinds_.front()) + "\n[" + kinds_.front() + "]\n";
    }
    std::string text;
    for (const std::string& kind : kinds_) {
        text += "[[step]]\nkind = " + toml_text(kind) + "\n";
    }
    return text;
}

std::vector<JobDraft::Table> JobDraft::tables() const {
    std::vector<Table> tables = {
        {"", "", {}}, {"input", "[input]", {}}, {"output", "[output]", {}}, {"run", "[run]", {}}};
    if (form_ == Form::kind) {
        tables.front().entries.emplace_back("kind", toml_text(kinds_.front()));
        tables.push_back({kinds_.front(), "[" + kinds_.front() + "]", {}});
    }
    for (std::size_t i = 0; form_ == Form::steps && i < kinds_.size(); ++i) {
        tables.push_back(
            {"step." + std::to_string(i + 1), "[[step]]", {{"kind", toml_text(kinds_[i])}}});
    }
    for (const std::string& setting : settings_) {
        const std::size_t equals = setting.find('=');
        const std::string key = setting.substr(0, equals);
        // The table of the longest name that the key begins with; the first has the empty name.
        const Table* found = &tables.front();
        for (const Table& table : tables) {
            if (key.starts_with(table.name + ".") && table.name.size() > found->name.size()) {
                found = &table;
            }
        }
        auto& entries = tables[static_cast<std::size_t>(found - tables.data())].entries;
        const std::string rest = found->name.empty() ? key : key.substr(found->name.size() + 1);
        std::erase_if(entries, [&](const auto& entry) { return entry.first == rest; });
        entries.emplace_back(rest, setting_value(setting.substr(equals + 1)));
    }
    return tables;
}

std::string JobDraft::text() const {
    // Where something is wrong this names the arguments; lines of a text that nobody wrote would
    // say nothing.
    static_cast<void>(parse_job_text(skeleton(), name_, settings_, called_));
    std::string text;
    for (const Table& table : tables()) {
        if (table.entries.empty() && (form_ != Form::kind || table.name != kinds_.front())) {
            continue;
        }
        text += (text.empty() ? "" : "\n") + table.title + (table.title.empty() ? "" : "\n");
        for (const auto& [key, value] : table.entries) {
            text += key;
            text += " = " + value + "\n";
        }
    }
    return text;
}

} // namespace runner
