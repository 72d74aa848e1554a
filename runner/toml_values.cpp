// SPDX-License-Identifier: BSD-3-Clause
#include "runner/toml_values.hpp"

#include "runner/toml_depth.hpp"

#include <algorithm>
#include <utility>

#include <toml++/toml.h>

namespace runner {
namespace {

SourcePlace place_of(const toml::source_region& region, int setting) {
    return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column), setting};
}

bool comes_first(const SourcePlace& a, const SourcePlace& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
}

TableValue convert(const toml::node& node, int setting);

TableEntries convert_table(const toml::table& table, int setting) {
    TableEntries entries;
    entries.reserve(table.size());
    for (const auto& [key, node] : table) {
        TableValue value = convert(node, setting);
        value.key_place = place_of(key.source(), setting);
        entries.push_back({std::string(key.str()), std::move(value)});
    }
    // The parser keeps keys by name; messages come in the order of the file.
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return comes_first(a.value.key_place, b.value.key_place);
    });
    return entries;
}

TableValue convert(const toml::node& node, int setting) {
    TableValue value;
    value.place = place_of(node.source(), setting);
    if (const auto* table = node.as_table()) {
        value.data = convert_table(*table, setting);
    } else if (const auto* array = node.as_array()) {
        TableArray elements;
        elements.reserve(array->size());
        for (const toml::node& element : *array) {
            elements.push_back(convert(element, setting));
        }
        value.data = std::move(elements);
    } else if (const auto* text = node.as_string()) {
        value.data = text->get();
    } else if (const auto* integer = node.as_integer()) {
        value.data = integer->get();
    } else if (const auto* number = node.as_floating_point()) {
        value.data = number->get();
    } else if (const auto* boolean = node.as_boolean()) {
        value.data = boolean->get();
    }
    return value;
}

/// The keys on the way to the one value of `entries`, where every table on it has one entry.
std::vector<std::string> path_to_value(const TableEntries& entries) {
    std::vector<std::string> path;
    const TableEntries* table = &entries;
    while (table != nullptr && table->size() == 1) {
        path.push_back(table->front().key);
        table = std::get_if<TableEntries>(&table->front().value.data);
    }
    return path;
}

TableValue& entry_of(TableEntries& table, const std::string& key) {
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&](const auto& entry) { return entry.key == key; });
    if (found != table.end()) {
        return found->value;
    }
    table.push_back({key, {}});
    return table.back().value;
}

/// Puts `from`'s value at `path` into `to`, its places along.
void lay_over(TableEntries& to, TableEntries from, const std::vector<std::string>& path) {
    TableEntries* target = &to;
    for (std::size_t level = 0; level + 1 < path.size(); ++level) {
        TableValue source = std::move(from.front().value);
        TableValue& below = entry_of(*target, path[level]);
        if (!std::holds_alternative<TableEntries>(below.data)) {
            below.data = TableEntries{};
            below.place = source.place;
            below.key_place = source.key_place;
        }
        target = &std::get<TableEntries>(below.data);
        from = std::get<TableEntries>(std::move(source.data));
    }
    entry_of(*target, path.back()) = std::move(from.front().value);
}

} // namespace

std::optional<TableEntries> parse_toml(std::string_view text, int setting,
                                       Diagnostics& diagnostics) {
    if (const std::optional<SourcePlace> deep = too_deep(text)) {
        diagnostics.add({deep->line, deep->column, setting}, "nested too deeply");
        return std::nullopt;
    }
    try {
        return convert_table(toml::parse(text), setting);
    } catch (const toml::parse_error& failure) {
        diagnostics.add(place_of(failure.source(), setting), std::string(failure.description()));
        return std::nullopt;
    }
}

void apply_setting(const std::string& text, int setting, TableEntries& values,
                   Diagnostics& diagnostics) {
    const SourcePlace place{1, 1, setting};
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || text.find_first_of("\r\n#") < equals) {
        diagnostics.add(place, "expected table.key=value");
        return;
    }
    Diagnostics found;
    const std::optional<TableEntries> key =
        parse_toml(text.substr(0, equals) + "=0", setting, found);
    std::vector<std::string> path = key ? path_to_value(*key) : std::vector<std::string>{};
    if (path.empty()) {
        diagnostics.add(place, "expected table.key=value, but the key is not one of TOML");
        return;
    }
    // Without this a line break could smuggle in a second setting under the name of the first.
    std::optional<TableEntries> parsed = parse_toml(text, setting, found);
    if (!parsed || path_to_value(*parsed).size() < path.size()) {
        diagnostics.add(place, "the value is not one of TOML: text takes quotes, as in '" +
                                   text.substr(0, equals) + "=\"text\"'");
        return;
    }
    lay_over(values, std::move(*parsed), path);
}

} // namespace runner
