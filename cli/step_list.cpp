// SPDX-License-Identifier: BSD-3-Clause
#include "cli/step_list.hpp"

#include "jobs/toml_text.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace runner {
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

std::vector<ListedStep> parse_steps_text(std::string_view text) {
    std::vector<ListedStep> steps;
    for (const std::string& part : cut(text)) {
        steps.push_back(parse_step(part));
    }
    return steps;
}

} // namespace runner
