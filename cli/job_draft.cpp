// SPDX-License-Identifier: BSD-3-Clause
#include "cli/job_draft.hpp"

#include "jobs/toml_text.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/toml/setting_value.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <utility>

namespace runner::cli {
namespace {

constexpr std::string_view blanks = " \t";

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// Whether a text after a comma begins a step, not the next number of a list.
bool begins_step(std::string_view text) {
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    return !word.empty() && std::isalpha(static_cast<unsigned char>(word.front())) != 0 &&
           word.find('=') == std::string_view::npos;
}

/// Whether a text begins with key=value.
bool begins_key(std::string_view text) {
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    const std::size_t equals = word.find('=');
    return equals != std::string_view::npos && equals > 0 &&
           std::isalpha(static_cast<unsigned char>(word.front())) != 0;
}

/// The texts of the steps, with blanks alone between keys: cut at commas that are in no brackets
/// and no quotes.
std::vector<std::string> cut(std::string_view text) {
    std::vector<std::string> parts = {""};
    int depth = 0;
    char quote = '\0';
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote != '\0') {
            quote = c == quote ? '\0' : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '[' || c == '{') {
            ++depth;
        } else if (c == ']' || c == '}') {
            --depth;
        } else if (c == ',' && depth == 0 && begins_step(trimmed(text.substr(i + 1)))) {
            parts.emplace_back();
            continue;
        }
        const bool ends_key = c == ',' && depth == 0 && begins_key(trimmed(text.substr(i + 1)));
        parts.back() += ends_key ? ' ' : c;
    }
    return parts;
}

ListedStep parse_step(std::string_view text) {
    std::string_view rest = trimmed(text);
    ListedStep step;
    step.kind = rest.substr(0, rest.find_first_of(blanks));
    if (!begins_step(rest)) {
        throw std::invalid_argument("a step begins with its kind, not with " +
                                    quoted_text(step.kind));
    }
    rest.remove_prefix(step.kind.size());
    while (!(rest = trimmed(rest)).empty()) {
        const std::string_view word = rest.substr(0, rest.find_first_of(blanks));
        if (begins_key(word)) {
            const std::size_t equals = word.find('=');
            step.keys.emplace_back(word.substr(0, equals), word.substr(equals + 1));
        } else if (!step.keys.empty()) {
            step.keys.back().second += " " + std::string(word); // of a list with blanks
        } else {
            throw std::invalid_argument("after " + quoted_text(step.kind) +
                                        " come its keys, as in size=3,3, not " + quoted_text(word));
        }
        rest.remove_prefix(word.size());
    }
    return step;
}

} // namespace

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

std::vector<ListedStep> parse_steps_text(std::string_view text) {
    std::vector<ListedStep> steps;
    for (const std::string& part : cut(text)) {
        steps.push_back(parse_step(part));
    }
    return steps;
}

} // namespace runner::cli
