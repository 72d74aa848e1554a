// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/argument_words.hpp"

#include "jobs/kind.hpp"
#include "runner/job_file/job_file.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <regex>
#include <set>
#include <span>
#include <vector>

namespace runner {
namespace {

/// A value as TOML writes it, at the end of a pattern: a text, an array, a table, a word or number.
constexpr const char* value_pattern = R"re(("[^"]*"|\[[^\]]*\]|\{[^}]*\}|[-+\w.]*\w))re";

using Words = std::function<std::string(const std::smatch&)>;

/// Every match, with what `words` makes of it in its place.
std::string replaced(const std::string& text, const std::string& pattern, const Words& words) {
    const std::regex expression(pattern);
    std::string made;
    auto rest = text.cbegin();
    for (std::sregex_iterator found(text.begin(), text.end(), expression), end; found != end;
         ++found) {
        made.append(rest, (*found)[0].first);
        made += words(*found);
        rest = (*found)[0].second;
    }
    return made.append(rest, text.cend());
}

std::string replaced(const std::string& text, const std::string& pattern, const char* words) {
    return std::regex_replace(text, std::regex(pattern), words);
}

std::string option_of(std::string key) {
    std::replace(key.begin(), key.end(), '_', '-');
    return "--" + key;
}

/// As a shell takes it: a table in quotes.
std::string quoted(const std::string& argument) {
    return argument.starts_with('{') ? "'" + argument + "'" : argument;
}

/// Whether a key of [output] is an option of its own.
bool is_option_of_output(const std::string& table, const std::string& key) {
    constexpr std::array keys = {"dtype", "compression", "chunk", "overwrite"};
    return table == "output" && std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::string key_with_value(const std::string& table, const std::string& key,
                           const std::string& value) {
    const std::string word = argument_of(value);
    if (is_option_of_output(table, key)) {
        return option_of(key) + (key == "overwrite" ? "" : " " + word);
    }
    return value.starts_with('{') ? "--set '" + table + "." + key + "=" + value + "'"
                                  : "--set " + table + "." + key + "=" + word;
}

/// Whether it is a key, and not the name of a file, as output.tif and input.raw are.
bool is_key(const std::string& table, const std::string& key) {
    static const std::set<std::string> known =
        known_keys("[input]\n[output]\nchunk = [1, 1]\ncompression = \"zstd\"\n[run]\n");
    return key != "raw" && known.contains(table + "." + key);
}

std::string key_alone(const std::string& table, const std::string& key) {
    if (key == "file" || key == "dataset") {
        return table == "input" ? "IN" : "OUT";
    }
    return is_option_of_output(table, key) ? option_of(key) : "--set " + table + "." + key;
}

/// The steps that a message proposes, as `--steps` has them.
std::string step_before(const std::string& keys) {
    std::string step = replaced(keys, R"re(^kind = "(\w+)")re", "$1");
    step = replaced(step, R"re(; (\w+) = )re", " $1=");
    std::erase_if(step, [](char c) { return c == '"'; });
    return replaced(step, ", ", ",");
}

/// The keys of one kind: options.
std::string with_options(std::string text, const Kind& kind) {
    const std::string name(kind.name);
    std::string any;
    for (const KeyText& key : kind.keys()) {
        any += (any.empty() ? "" : "|") + key.name;
    }
    text = replaced(text, "\\b" + name + "\\.(" + any + ")\\b",
                    [](const std::smatch& found) { return option_of(found[1]); });
    return replaced(
        text, "(^|[ (])(" + any + ") = " + value_pattern, [&text](const std::smatch& found) {
            // Within braces it is of a table, which stays as TOML has it.
            const auto before = found[0].first;
            const bool is_of_table =
                std::count(text.cbegin(), before, '{') > std::count(text.cbegin(), before, '}');
            return is_of_table
                       ? found.str()
                       : found[1].str() + option_of(found[2]) + " " + quoted(argument_of(found[3]));
        });
}

} // namespace

std::string argument_of(const std::string& value) {
    if (value.starts_with('{')) {
        return value;
    }
    std::string word = value;
    std::erase_if(word, [](char c) { return c == '"' || c == '[' || c == ']' || c == ' '; });
    return word;
}

std::string in_words_of_arguments(std::string message, std::string_view name) {
    const std::span<const Kind> all = kinds();
    const auto kind = std::find_if(all.begin(), all.end(), [&](const Kind& each) {
        return name == "runner " + std::string(each.name);
    });
    const bool is_pipeline = kind == all.end();
    message =
        replaced(message, std::string(name) + R"re(:\d+:\d+, )re", is_pipeline ? "--steps, " : "");
    message = replaced(message, R"re(, or by input\.dataset in a job file)re", "");
    message = replaced(message, R"re( \(for a verb: --trust-input\))re", "");
    message = replaced(message, R"re(Put a \[\[step\]\] before it, (.*?)(?=\. [A-Z]|$))re",
                       [&](const std::smatch& found) {
                           const std::string step = step_before(found[1]);
                           return is_pipeline
                                      ? "Put a step before it: " + step
                                      : "Put a step before it: runner pipeline IN OUT --steps \"" +
                                            step + ", " + std::string(kind->name) + " …\"";
                       });
    const std::string key = R"re(\b(input|output|run)\.([a-z_]+))re";
    message = replaced(message, "\\b([Ss])et " + key + " = " + value_pattern,
                       [](const std::smatch& found) {
                           return (found[1] == "S" ? "Pass " : "pass ") +
                                  key_with_value(found[2], found[3], found[4]);
                       });
    message = replaced(message, key + " = " + value_pattern, [](const std::smatch& found) {
        return key_with_value(found[1], found[2], found[3]);
    });
    message = replaced(
        message, "(--set )?" + key + R"re((?![\w=/]|\.\w))re", [](const std::smatch& found) {
            return found[1].matched || !is_key(found[2], found[3]) ? found.str()
                                                                   : key_alone(found[2], found[3]);
        });
    return is_pipeline ? message : with_options(std::move(message), *kind);
}

} // namespace runner
