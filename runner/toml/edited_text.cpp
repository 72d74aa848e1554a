// SPDX-License-Identifier: BSD-3-Clause
#include "runner/toml/edited_text.hpp"

#include "base/format.hpp"
#include "jobs/table.hpp"
#include "runner/toml/setting_value.hpp"
#include "runner/toml/toml_values.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

namespace runner {
namespace {

/// The offset of a place. The parser counts columns in characters of UTF-8.
std::size_t offset_of(std::string_view text, const SourcePlace& place) {
    std::size_t at = 0;
    for (int line = 1; line < place.line; ++line) {
        at = text.find('\n', at) + 1;
    }
    for (int column = 1; column < place.column; ++column) {
        constexpr unsigned continuation = 0x80;
        constexpr unsigned mask = 0xC0;
        do {
            ++at;
        } while (at < text.size() && (static_cast<unsigned char>(text[at]) & mask) == continuation);
    }
    return at;
}

/// The offset behind the value that begins at `at`, without the spaces that follow it.
std::size_t end_of_value(std::string_view text, std::size_t at) {
    int depth = 0;
    std::size_t end = at;
    while (at < text.size()) {
        const char c = text[at];
        const bool closes = c == ']' || c == '}';
        if (depth == 0 && (c == '\n' || c == '\r' || c == '#' || c == ',' || closes)) {
            break;
        }
        if (c == '#') {
            at = std::min(text.find('\n', at), text.size());
            continue;
        }
        if (c == '"' || c == '\'') {
            at = after_string(text, at);
        } else {
            depth += c == '[' || c == '{' ? 1 : closes ? -1 : 0;
            ++at;
        }
        end = c == ' ' || c == '\t' ? end : at;
    }
    return end;
}

std::vector<std::string> words_of(std::string_view keys) {
    std::vector<std::string> words(1);
    for (const char c : keys) {
        if (c == '.') {
            words.emplace_back();
        } else if (c != ' ') {
            words.back() += c;
        }
    }
    return words;
}

const TableValue* find_key(const TableEntries& entries, const std::string& key) {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const TableEntry& entry) { return entry.key == key; });
    return found == entries.end() ? nullptr : &found->value;
}

/// The element of an array of tables by its name or its number from 1.
const TableValue* find_table(const TableArray& tables, const std::string& key) {
    for (std::size_t i = 0; i < tables.size(); ++i) {
        const auto* const entries = std::get_if<TableEntries>(&tables[i].data);
        const TableValue* const name = entries == nullptr ? nullptr : find_key(*entries, "name");
        const auto* const text = name == nullptr ? nullptr : std::get_if<std::string>(&name->data);
        if ((text != nullptr && *text == key) || std::to_string(i + 1) == key) {
            return &tables[i];
        }
    }
    return nullptr;
}

bool same_values(const TableValue& a, const TableValue& b);

bool same_entries(const TableEntries& a, const TableEntries& b) {
    return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const TableEntry& entry) {
               const TableValue* const other = find_key(b, entry.key);
               return other != nullptr && same_values(entry.value, *other);
           });
}

/// Whatever their places.
bool same_values(const TableValue& a, const TableValue& b) {
    if (const auto* const entries = std::get_if<TableEntries>(&a.data)) {
        const auto* const others = std::get_if<TableEntries>(&b.data);
        return others != nullptr && same_entries(*entries, *others);
    }
    if (const auto* const values = std::get_if<TableArray>(&a.data)) {
        const auto* const others = std::get_if<TableArray>(&b.data);
        return others != nullptr && std::equal(values->begin(), values->end(), others->begin(),
                                               others->end(), same_values);
    }
    return a.data.index() == b.data.index() &&
           std::visit(
               [&](const auto& value) {
                   using T = std::decay_t<decltype(value)>;
                   if constexpr (std::is_same_v<T, TableArray> || std::is_same_v<T, TableEntries>) {
                       return false; // handled above
                   } else {
                       return value == std::get<T>(b.data);
                   }
               },
               a.data);
}

/// The text with the value placed, whether or not it then means what it should.
std::optional<std::string> place_value(const std::string& text, const TableEntries& values,
                                       std::string_view keys, const std::string& value) {
    std::vector<std::string> words = words_of(keys);
    const std::string last = std::move(words.back());
    words.pop_back();
    const TableEntries* table = &values;
    const TableValue* header = nullptr;
    for (std::size_t i = 0; i < words.size(); ++i) {
        header = find_key(*table, words[i]);
        if (header == nullptr && i == 0 && words.size() == 1) {
            return text + (text.empty() || text.back() == '\n' ? "" : "\n") +
                   fmt::format("\n[{}]\n{} = {}\n", words[0], last, value);
        }
        const auto* const tables =
            header == nullptr ? nullptr : std::get_if<TableArray>(&header->data);
        if (tables != nullptr && i + 1 < words.size()) {
            header = find_table(*tables, words[++i]);
        }
        table = header == nullptr ? nullptr : std::get_if<TableEntries>(&header->data);
        if (table == nullptr) {
            return std::nullopt;
        }
    }
    if (const TableValue* const found = find_key(*table, last)) {
        const std::size_t at = offset_of(text, found->place);
        return text.substr(0, at) + value + text.substr(end_of_value(text, at));
    }
    if (header == nullptr) {
        return std::nullopt;
    }
    const std::size_t at = offset_of(text, {header->place.line, 1});
    const std::size_t first = text.find_first_not_of(" \t", at);
    const std::size_t end = text.find('\n', at);
    if (first == std::string::npos || text[first] != '[' || end == std::string::npos) {
        return std::nullopt;
    }
    return text.substr(0, end + 1) + text.substr(at, first - at) + last + " = " + value + "\n" +
           text.substr(end + 1);
}

} // namespace

std::optional<std::string> edited_text(const std::string& text, const std::string& setting) {
    Diagnostics diagnostics;
    std::optional<TableEntries> values = parse_toml(text, 0, diagnostics);
    const std::size_t equals = setting.find('=');
    if (!values || equals == std::string::npos) {
        return std::nullopt;
    }
    std::optional<std::string> edited =
        place_value(text, *values, std::string_view(setting).substr(0, equals),
                    setting_value(std::string_view(setting).substr(equals + 1)));
    apply_setting(setting, 1, *values, diagnostics);
    const std::optional<TableEntries> found =
        edited ? parse_toml(*edited, 0, diagnostics) : std::nullopt;
    if (!found || !diagnostics.entries().empty() || !same_entries(*found, *values)) {
        return std::nullopt; // whatever the text is, it does not then say something else
    }
    return edited;
}

} // namespace runner
