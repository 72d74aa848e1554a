// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/key_text.hpp"

#include "base/format.hpp"
#include "base/json.hpp"
#include "jobs/kind.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace runner {
namespace {

constexpr std::size_t comment_column = 32;
constexpr std::size_t most_columns = 100;

std::string without_backquotes(std::string text) {
    std::erase(text, '`');
    return text;
}

bool is_word(const KeyText& key) { return key.type == "string" && !key.range.empty(); }

/// What the key means and which values it takes.
std::string in_brief(const KeyText& key) {
    std::string text = is_word(key) ? key.range + ": " + key.meaning : key.meaning;
    if (!is_word(key) && !key.range.empty()) {
        text += "; " + key.range;
    }
    return key.unit.empty() ? text : text + "; in " + key.unit;
}

std::string in_full(const KeyText& key) {
    return key.detail.empty() ? in_brief(key) : in_brief(key) + ". " + key.detail;
}

/// Characters of UTF-8.
std::size_t columns_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned>(c) & 0xC0U) != 0x80;
    }));
}

/// The words in lines of at most so many characters, each begun with `begin`.
std::string wrapped(const std::string& text, const std::string& begin, std::size_t most) {
    std::string lines;
    std::string line = begin;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        if (line.size() > begin.size() && columns_of(line) + 1 + columns_of(word) > most) {
            lines += line + "\n";
            line = begin;
        }
        line += (line.size() > begin.size() ? " " : "") + word;
        at = end + 1;
    }
    return lines + line + "\n";
}

} // namespace

std::string sample_lines(std::span<const KeyText> keys) {
    std::string text;
    std::string range_before;
    for (KeyText key : keys) {
        std::string line = fmt::format(
            "{}{} = {}", key.shown == KeyText::Shown::commented ? "# " : "", key.name, key.sample);
        if (!is_word(key) && key.range == std::exchange(range_before, key.range)) {
            key.range.clear(); // the key before it says it
        }
        line.resize(std::max(line.size() + 1, comment_column), ' ');
        const auto fits = [&](const std::string& comment) {
            return columns_of(line) + 2 + columns_of(comment) <= most_columns;
        };
        std::string comment = without_backquotes(in_brief(key));
        if (is_word(key) && !fits(comment)) {
            comment = without_backquotes(key.range);
        }
        if (fits(comment)) {
            text += fmt::format("{}# {}\n", line, comment);
        } else {
            line.erase(line.find_last_not_of(' ') + 1);
            text += fmt::format("{}{}\n", wrapped(comment, "# ", most_columns), line);
        }
    }
    return text;
}

std::string key_table(const Kind& kind) {
    std::string text = "| key | type | default | meaning |\n| --- | --- | --- | --- |\n";
    for (const KeyText& key : kind.keys()) {
        text +=
            fmt::format("| `{}` | {} | {} | {} |\n", key.name, key.type, key.usual, in_full(key));
    }
    return text;
}

std::string key_line(const KeyText& key) {
    return without_backquotes(in_brief(key) + " (default: " + key.usual + ")");
}

std::string key_paragraphs(const Kind& kind) {
    std::string text = "[" + std::string(kind.name) + "] " + std::string(kind.summary) + "\n";
    for (const KeyText& key : kind.keys()) {
        const std::string usual =
            key.usual == "required" ? key.usual : "default: " + without_backquotes(key.usual);
        text += fmt::format("\n{} ({}, {})\n{}", key.name, without_backquotes(key.type), usual,
                            wrapped(without_backquotes(in_full(key)), "    ", most_columns));
    }
    return text;
}

std::string kinds_json(std::span<const Kind> kinds) {
    Json all = Json::array();
    for (const Kind& kind : kinds) {
        Json keys = Json::array();
        for (const KeyText& key : kind.keys()) {
            Json entry{{"name", key.name}};
            for (const auto& [name, value] : {std::pair("type", &key.type),
                                              {"range", &key.range},
                                              {"unit", &key.unit},
                                              {"default", &key.usual},
                                              {"meaning", &key.meaning},
                                              {"detail", &key.detail},
                                              {"annotation", &key.annotation}}) {
                if (!value->empty()) {
                    entry[name] = Json(*value);
                }
            }
            keys.push_back(std::move(entry));
        }
        all.push_back(
            Json{{"kind", kind.name}, {"summary", kind.summary}, {"keys", std::move(keys)}});
    }
    return all.lines(2, 0);
}

} // namespace runner
