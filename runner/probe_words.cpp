// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe_words.hpp"

#include "base/printable.hpp"

#include <array>
#include <vector>

namespace runner {
namespace {

constexpr const char* good_answer = "good";
constexpr const char* error_answer = "error";

/// The texts of an answer, each ended by a NUL.
std::vector<std::string> parts_of(const std::string& answer) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin < answer.size();) {
        const std::size_t end = answer.find('\0', begin);
        if (end == std::string::npos) {
            return {};
        }
        parts.push_back(answer.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

} // namespace

std::string to_text(const InputRules& rules) {
    return (rules.outside == InputRules::Outside::anywhere ? "anywhere:" : "beside:") +
           (rules.max_logical_bytes ? std::to_string(*rules.max_logical_bytes) : "");
}

InputRules rules_from_text(const std::string& text) {
    InputRules rules;
    if (text.starts_with("anywhere:")) {
        rules.outside = InputRules::Outside::anywhere;
    }
    if (const std::string number = text.substr(text.find(':') + 1); !number.empty()) {
        rules.max_logical_bytes = std::stoll(number);
    }
    return rules;
}

std::string answer_text(const std::optional<Error>& failure) {
    if (!failure) {
        return good_answer + std::string(1, '\0');
    }
    const ErrorText& text = failure->text();
    std::string answer;
    for (const std::string& part :
         {std::string(error_answer), std::to_string(static_cast<int>(failure->code())), text.what,
          text.where, text.why, text.try_this}) {
        answer += part.substr(0, part.find('\0')) + '\0';
    }
    return answer;
}

bool is_good(const std::string& answer) {
    return parts_of(answer) == std::vector<std::string>{good_answer};
}

std::optional<Error> error_of(const std::string& answer) {
    const std::vector<std::string> parts = parts_of(answer);
    if (parts.size() != 6 || parts[0] != error_answer) {
        return std::nullopt;
    }
    const bool is_launch = parts[1] == std::to_string(static_cast<int>(ExitCode::launch));
    return Error(
        is_launch ? ExitCode::launch : ExitCode::input,
        {printable(parts[2]), printable(parts[3]), printable(parts[4]), printable(parts[5])});
}

} // namespace runner
