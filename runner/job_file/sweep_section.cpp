// SPDX-License-Identifier: BSD-3-Clause
#include "base/format.hpp"
#include "jobs/toml_text.hpp"
#include "runner/job_file/job_sections.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace runner {
namespace {

constexpr std::size_t most_keys = 2;
constexpr std::size_t most_pictures = 64;

std::string text_of(const TableValue& value);

/// A value as TOML on one line.
struct ValueText {
    std::string operator()(std::monostate /*date*/) const { return ""; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return toml_text(value); }
    std::string operator()(const std::string& value) const {
        return toml_text(std::string_view(value));
    }
    std::string operator()(const TableArray& values) const {
        std::string text;
        for (const TableValue& value : values) {
            text += (text.empty() ? "" : ", ") + text_of(value);
        }
        return "[" + text + "]";
    }
    std::string operator()(const TableEntries& entries) const {
        std::string text;
        for (const auto& [key, value] : entries) {
            text += (text.empty() ? " " : ", ") + key + " = " + text_of(value);
        }
        return "{" + text + " }";
    }
};

std::string text_of(const TableValue& value) { return std::visit(ValueText{}, value.data); }

/// Gathers the lists of values below a table, whose keys are those of the job file.
void take_lists(const TableEntries& entries, const std::string& before, Diagnostics& diagnostics,
                std::vector<JobFile::SweptKey>& keys) {
    for (const TableEntry& entry : entries) {
        const std::string& name = entry.key;
        const TableValue& value = entry.value;
        const std::string key = before.empty() ? name : fmt::format("{}.{}", before, name);
        const auto complain = [&](const std::string& text) {
            diagnostics.add(value.key_place.line > 0 ? value.key_place : value.place,
                            fmt::format("sweep.{}: {}", key, text));
        };
        static constexpr std::array others = {"input", "output", "run", "batch", "sweep"};
        if (before.empty() && std::find(others.begin(), others.end(), name) != others.end()) {
            complain("a sweep is over keys of the job's kind or of a step, as convolve.fill");
        } else if (const auto* table = std::get_if<TableEntries>(&value.data)) {
            take_lists(*table, key, diagnostics, keys);
        } else if (const auto* list = std::get_if<TableArray>(&value.data);
                   list == nullptr || list->empty() || before.empty()) {
            complain("expected table.key = [value, value, ...], as denoise.strength = [0.4, 0.8]");
        } else {
            JobFile::SweptKey& swept = keys.emplace_back();
            swept.key = key;
            std::transform(list->begin(), list->end(), std::back_inserter(swept.values),
                           [](const TableValue& each) { return text_of(each); });
        }
    }
}

} // namespace

std::vector<JobFile::SweptKey> parse_sweep(TableReader& top) {
    const TableValue* const value = top.value("sweep");
    if (value == nullptr) {
        return {};
    }
    const auto* const entries = std::get_if<TableEntries>(&value->data);
    if (entries == nullptr) {
        top.complain("sweep", "expected a table, got " + type_name(*value));
        return {};
    }
    std::vector<JobFile::SweptKey> keys;
    take_lists(*entries, "", top.diagnostics(), keys);
    std::size_t pictures = 1;
    for (const JobFile::SweptKey& key : keys) {
        pictures *= std::min(key.values.size(), most_pictures + 1);
    }
    if (keys.size() > most_keys) {
        top.complain("sweep", "it has " + std::to_string(keys.size()) +
                                  " keys, and a page of pictures has rows and columns; leave two");
    } else if (pictures > most_pictures) {
        top.complain("sweep", "it asks for more than " + std::to_string(most_pictures) +
                                  " pictures; write fewer values");
    }
    return keys;
}

} // namespace runner
