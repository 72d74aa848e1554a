// SPDX-License-Identifier: BSD-3-Clause
#include "runner/toml/toml_values.hpp"

#include "base/text.hpp"
#include "runner/toml/setting_value.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <cstddef>
#include <toml++/toml.h>

namespace runner {
namespace {

constexpr int most_brackets = 64;
constexpr int most_dots = 32;

SourcePlace place_at(std::string_view text, std::size_t at) {
    const std::string_view before = text.substr(0, at);
    const std::size_t line_start = before.rfind('\n') + 1; // npos + 1 is 0
    return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
            static_cast<int>(at - line_start) + 1};
}

} // namespace

std::size_t after_string(std::string_view text, std::size_t at) {
    const char quote = text[at];
    const std::string_view fence = quote == '"' ? R"(""")" : "'''";
    const bool several_lines = text.substr(at).starts_with(fence);
    std::size_t i = at + (several_lines ? 3 : 1);
    for (; i < text.size(); ++i) {
        if (quote == '"' && text[i] == '\\') {
            ++i;
        } else if (several_lines && text.substr(i).starts_with(fence)) {
            i += 3;
            // One or two more quotes belong to the string's end: """"a""""" is legal.
            for (int more = 0; more < 2 && i < text.size() && text[i] == quote; ++more) {
                ++i;
            }
            return i;
        } else if (!several_lines && text[i] == quote) {
            return i + 1;
        } else if (!several_lines && text[i] == '\n') {
            return i;
        }
    }
    return text.size(); // for the parser to complain about
}

std::optional<SourcePlace> too_deep(std::string_view text) {
    int brackets = 0;
    int dots = 0; // since the last character that ends a key
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        if (c == '"' || c == '\'') {
            i = after_string(text, i);
            continue;
        }
        if (c == '#') {
            i = std::min(text.find('\n', i), text.size());
            continue;
        }
        if (c == '[' || c == '{') {
            ++brackets;
        } else if (c == ']' || c == '}') {
            brackets = std::max(brackets - 1, 0);
        } else if (c == '.') {
            ++dots;
        }
        if (c == '=' || c == ',' || c == '\n' || c == '[' || c == ']' || c == '{' || c == '}') {
            dots = 0;
        }
        if (brackets > most_brackets || dots > most_dots) {
            return place_at(text, i);
        }
        ++i;
    }
    return std::nullopt;
}

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

bool is_array_of_tables(const TableArray& array) {
    return !array.empty() && std::all_of(array.begin(), array.end(), [](const TableValue& value) {
        return std::holds_alternative<TableEntries>(value.data);
    });
}

/// The one of an array of tables whose `name` is `key`, or whose number, from 1, it is; null where
/// there is none.
TableValue* element_of(TableArray& tables, const std::string& key) {
    const auto is_meant = [&](const TableEntries& table) {
        return std::any_of(table.begin(), table.end(), [&](const TableEntry& entry) {
            const auto* name = std::get_if<std::string>(&entry.value.data);
            return entry.key == "name" && name != nullptr && *name == key;
        });
    };
    for (std::size_t i = 0; i < tables.size(); ++i) {
        if (is_meant(std::get<TableEntries>(tables[i].data)) || std::to_string(i + 1) == key) {
            return &tables[i];
        }
    }
    return nullptr;
}

/// Puts `from`'s value at `path` into `to`, its places along. Returns what is wrong with the path,
/// and then `to` is as it was; else "".
std::string lay_over(TableEntries& to, TableEntries from, const std::vector<std::string>& path) {
    TableEntries* target = &to;
    for (std::size_t level = 0; level + 1 < path.size(); ++level) {
        TableValue source = std::move(from.front().value);
        TableValue& below = entry_of(*target, path[level]);
        if (auto* tables = std::get_if<TableArray>(&below.data);
            tables != nullptr && is_array_of_tables(*tables)) {
            TableValue* found = element_of(*tables, path[level + 1]);
            if (found == nullptr) {
                return "there is no " + path[level] + " " + path[level + 1] +
                       "; a number from 1 to " + std::to_string(tables->size()) +
                       " or a name picks one";
            }
            TableValue element = std::move(std::get<TableEntries>(source.data).front().value);
            auto* entries = std::get_if<TableEntries>(&element.data);
            if (entries == nullptr) {
                return "expected a table, or a key of it as in " + path[level] + "." +
                       path[level + 1] + ".key=value";
            }
            if (level + 2 == path.size()) {
                *found = std::move(element);
                return "";
            }
            from = std::move(*entries);
            target = &std::get<TableEntries>(found->data);
            ++level;
            continue;
        }
        if (!std::holds_alternative<TableEntries>(below.data)) {
            below.data = TableEntries{};
            below.place = source.place;
            below.key_place = source.key_place;
        }
        target = &std::get<TableEntries>(below.data);
        from = std::get<TableEntries>(std::move(source.data));
    }
    entry_of(*target, path.back()) = std::move(from.front().value);
    return "";
}

/// "; text takes quotes: key = "word"" where a line's value is a bare word; else nothing.
std::string quotes_hint(std::string_view text, int number) {
    for (int line = 1; line < number && !text.empty(); ++line) {
        text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    }
    const std::string_view line = text.substr(0, text.find_first_of("\r\n#"));
    constexpr std::string_view blanks = " \t";
    const std::size_t equals = line.find('=');
    const std::size_t first = equals == std::string_view::npos
                                  ? std::string_view::npos
                                  : line.find_first_not_of(blanks, equals + 1);
    const std::size_t begin = line.find_first_not_of(blanks);
    if (first == std::string_view::npos || begin == equals) {
        return "";
    }
    const auto starts = static_cast<unsigned char>(line[first]);
    const std::string_view value = line.substr(first, line.find_last_not_of(blanks) - first + 1);
    if ((std::isalpha(starts) == 0 && starts != '/' && starts != '.' && starts != '~') ||
        value.find_first_of("\"'[]{}") != std::string_view::npos) {
        return "";
    }
    const std::string_view key =
        line.substr(begin, line.find_last_not_of(blanks, equals - 1) - begin + 1);
    return std::string("; text takes quotes: ") + printable(key) + " = \"" + printable(value) +
           "\"";
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
        const SourcePlace place = place_of(failure.source(), setting);
        diagnostics.add(place, std::string(failure.description()) + quotes_hint(text, place.line));
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
    if (!is_utf8(text)) {
        diagnostics.add(place, "it is no text of UTF-8, which a job file is; rename a file of such "
                               "a name, or make a link to it with another name");
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
    std::optional<TableEntries> parsed = parse_toml(
        text.substr(0, equals + 1) + setting_value(text.substr(equals + 1)), setting, found);
    if (!parsed || path_to_value(*parsed).size() < path.size()) {
        diagnostics.add(place, "the value is not one of TOML: text takes quotes, as in '" +
                                   text.substr(0, equals) + "=\"text\"'");
        return;
    }
    if (const std::string wrong = lay_over(values, std::move(*parsed), path); !wrong.empty()) {
        diagnostics.add(place, wrong);
    }
}

} // namespace runner
