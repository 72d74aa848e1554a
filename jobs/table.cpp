// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/table.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace runner {
namespace {

std::string list_text(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

/// A key as messages show it: in quotes when it is not a plain word, so that each stays on its
/// line.
std::string shown_key(std::string_view key) {
    const bool plain = key.size() <= 60 && !key.empty() &&
                       std::all_of(key.begin(), key.end(), [](unsigned char c) {
                           return std::isalnum(c) != 0 || c == '_' || c == '-';
                       });
    return plain ? std::string(key) : quoted_text(key);
}

std::optional<double> as_number(const TableValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value.data)) {
        return static_cast<double>(*integer);
    }
    if (const auto* number = std::get_if<double>(&value.data)) {
        return *number;
    }
    return std::nullopt;
}

std::string range_text(std::int64_t least, std::int64_t most) {
    if (most == std::numeric_limits<std::int64_t>::max()) {
        return fmt::format("must be at least {}", least);
    }
    return fmt::format("must be from {} to {}", least, most);
}

} // namespace

std::string type_name(const TableValue& value) {
    struct Name {
        std::string operator()(std::monostate) const { return "a date or time"; }
        std::string operator()(bool) const { return "a boolean"; }
        std::string operator()(std::int64_t) const { return "an integer"; }
        std::string operator()(double) const { return "a float"; }
        std::string operator()(const std::string&) const { return "a string"; }
        std::string operator()(const TableArray&) const { return "an array"; }
        std::string operator()(const TableEntries&) const { return "a table"; }
    };
    return std::visit(Name{}, value.data);
}

TableReader::TableReader(const TableEntries& table, SourcePlace place, std::string name,
                         Diagnostics& diagnostics)
    : table_(&table), place_(place), name_(std::move(name)), diagnostics_(&diagnostics) {}

const TableValue* TableReader::find(std::string_view key) {
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) {
        asked_.emplace_back(key);
        diagnostics_->note_key(dotted(key));
    }
    const auto entry = std::find_if(table_->begin(), table_->end(),
                                    [&](const auto& candidate) { return candidate.key == key; });
    return entry == table_->end() ? nullptr : &entry->value;
}

std::string TableReader::dotted(std::string_view key) const {
    return name_.empty() ? shown_key(key) : name_ + "." + shown_key(key);
}

void TableReader::complain_at(SourcePlace place, std::string_view key, const std::string& text) {
    diagnostics_->add(place, dotted(key) + ": " + text);
}

template <class T> const T* TableReader::typed(std::string_view key, const char* expected) {
    const TableValue* found = find(key);
    if (found == nullptr) {
        return nullptr;
    }
    const T* data = std::get_if<T>(&found->data);
    if (data == nullptr) {
        complain_at(found->place, key,
                    std::string("expected ") + expected + ", got " + type_name(*found));
    }
    return data;
}

bool TableReader::has(std::string_view key) { return find(key) != nullptr; }

std::optional<bool> TableReader::boolean(std::string_view key) {
    const bool* data = typed<bool>(key, "a boolean (true or false)");
    return data == nullptr ? std::nullopt : std::optional(*data);
}

std::optional<std::int64_t> TableReader::integer(std::string_view key, std::int64_t least,
                                                 std::int64_t most) {
    const auto* data = typed<std::int64_t>(key, "an integer");
    if (data == nullptr) {
        return std::nullopt;
    }
    if (*data < least || *data > most) {
        complain(key, fmt::format("{}, got {}", range_text(least, most), *data));
        return std::nullopt;
    }
    return *data;
}

std::optional<double> TableReader::number(std::string_view key) {
    const TableValue* found = find(key);
    if (found == nullptr) {
        return std::nullopt;
    }
    const std::optional<double> result = as_number(*found);
    if (!result) {
        complain(key, "expected a number, got " + type_name(*found));
    } else if (!std::isfinite(*result)) {
        complain(key, "must be a finite number, got " + toml_text(*result));
        return std::nullopt;
    }
    return result;
}

std::optional<std::string> TableReader::text(std::string_view key) {
    const auto* data = typed<std::string>(key, "a string");
    if (data != nullptr && data->find('\0') != std::string::npos) {
        complain(key, "must not hold the character U+0000, which ends a name for the system");
        return std::nullopt;
    }
    return data == nullptr ? std::nullopt : std::optional(*data);
}

std::optional<std::size_t> TableReader::choice(std::string_view key,
                                               const std::vector<std::string>& allowed) {
    const auto* data = typed<std::string>(key, "a string");
    if (data == nullptr) {
        return std::nullopt;
    }
    const auto match = std::find(allowed.begin(), allowed.end(), *data);
    if (match != allowed.end()) {
        return static_cast<std::size_t>(match - allowed.begin());
    }
    const std::optional<std::string> near = nearest_name(*data, allowed);
    complain(key, "unknown value " + quoted_text(*data) +
                      (near ? "; did you mean " + toml_text(*near) + "?" : "") +
                      (near ? " Possible: " : "; possible: ") + list_text(allowed));
    return std::nullopt;
}

std::optional<std::vector<std::int64_t>> TableReader::integers(std::string_view key,
                                                               std::int64_t least) {
    const auto* array = typed<TableArray>(key, "an array of integers");
    if (array == nullptr) {
        return std::nullopt;
    }
    std::vector<std::int64_t> result;
    for (const TableValue& element : *array) {
        const auto* data = std::get_if<std::int64_t>(&element.data);
        if (data == nullptr) {
            complain_at(element.place, key,
                        "expected an array of integers, got " + type_name(element) + " in it");
            return std::nullopt;
        }
        if (*data < least) {
            complain_at(element.place, key,
                        fmt::format("every element must be at least {}, got {}", least, *data));
            return std::nullopt;
        }
        result.push_back(*data);
    }
    return result;
}

std::optional<std::vector<double>> TableReader::numbers(std::string_view key) {
    const auto* array = typed<TableArray>(key, "an array of numbers");
    if (array == nullptr) {
        return std::nullopt;
    }
    std::vector<double> result;
    for (const TableValue& element : *array) {
        const std::optional<double> data = as_number(element);
        if (!data) {
            complain_at(element.place, key,
                        "expected an array of numbers, got " + type_name(element) + " in it");
            return std::nullopt;
        }
        if (!std::isfinite(*data)) {
            complain_at(element.place, key,
                        "every element must be a finite number, got " + toml_text(*data));
            return std::nullopt;
        }
        result.push_back(*data);
    }
    return result;
}

const TableValue* TableReader::value(std::string_view key) { return find(key); }

std::optional<TableReader> TableReader::table(std::string_view key) {
    const auto* data = typed<TableEntries>(key, "a table");
    if (data == nullptr) {
        return std::nullopt;
    }
    return TableReader(*data, find(key)->place, dotted(key), *diagnostics_);
}

void TableReader::complain(std::string_view key, const std::string& text) {
    const TableValue* found = find(key);
    complain_at(found == nullptr ? place_ : found->place, key, text);
}

void TableReader::missing(std::string_view key, const std::string& what_to_write) {
    diagnostics_->add(place_, dotted(key) + " is missing: write " + what_to_write);
}

void TableReader::finish() {
    for (const auto& [key, entry] : *table_) {
        if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) {
            continue;
        }
        const std::optional<std::string> near = nearest_name(key, asked_);
        const std::string holder = name_.empty() ? "the file" : "[" + name_ + "]";
        diagnostics_->add(entry.key_place, dotted(key) + ": unknown key; " +
                                               (near ? "did you mean " + *near + "?"
                                                     : holder + " takes " + list_text(asked_)));
    }
}

} // namespace runner
