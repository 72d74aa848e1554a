// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe/probe_words.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "io/files/message.hpp"
#include "runner/probe/probe_child.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace runner {
namespace {

constexpr std::string_view good_answer("good\0", 5);
constexpr const char* error_answer = "error";
constexpr std::string_view mark_word = "mark:";
constexpr std::string_view skip_word = "skip:";
constexpr std::string_view fill_word = "fill:";

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

ExitCode code_of(const std::string& number) {
    for (const ExitCode code : {ExitCode::launch, ExitCode::output}) {
        if (number == std::to_string(static_cast<int>(code))) {
            return code;
        }
    }
    return ExitCode::input;
}

} // namespace

std::string ProbeRequest::where() const { return dataset.empty() ? file : file + ":" + dataset; }

std::string to_text(const ProbeRequest& request) {
    MessageWriter to;
    to.texts({request.way, request.file, request.dataset, to_text(request.rules), request.more});
    const std::string message = to.take();
    return answer_head(0, message.size()) + message;
}

std::optional<ProbeRequest> read_request(int descriptor) {
    std::array<char, message_head_bytes> head{};
    if (!read_all(descriptor, head.data(), head.size())) {
        return std::nullopt;
    }
    const std::string numbers(head.data(), head.size());
    std::string message(std::stoull(numbers.substr(numbers.find(' '))), '\0');
    if (!read_all(descriptor, message.data(), message.size())) {
        return std::nullopt;
    }
    std::vector<std::string> parts = MessageReader(message).texts();
    if (parts.size() != 5) {
        return std::nullopt;
    }
    return ProbeRequest{std::move(parts[0]), std::move(parts[1]), std::move(parts[2]),
                        rules_from_text(parts[3]), std::move(parts[4])};
}

std::string to_text(const InputRules& rules) {
    return (rules.bad_chunks == InputRules::BadChunks::mark ? std::string(mark_word) : "") +
           (rules.missing == InputRules::Missing::skip ? std::string(skip_word) : "") +
           (rules.missing == InputRules::Missing::fill ? std::string(fill_word) : "") +
           (rules.outside == InputRules::Outside::anywhere ? "anywhere:" : "beside:") +
           (rules.max_logical_bytes ? std::to_string(*rules.max_logical_bytes) : "");
}

InputRules rules_from_text(const std::string& text) {
    InputRules rules;
    std::string_view rest = text;
    if (rest.starts_with(mark_word)) {
        rules.bad_chunks = InputRules::BadChunks::mark;
        rest.remove_prefix(mark_word.size());
    }
    if (rest.starts_with(skip_word)) {
        rules.missing = InputRules::Missing::skip;
        rest.remove_prefix(skip_word.size());
    }
    if (rest.starts_with(fill_word)) {
        rules.missing = InputRules::Missing::fill;
        rest.remove_prefix(fill_word.size());
    }
    if (rest.starts_with("anywhere:")) {
        rules.outside = InputRules::Outside::anywhere;
    }
    if (const std::string number(rest.substr(rest.find(':') + 1)); !number.empty()) {
        rules.max_logical_bytes = std::stoll(number);
    }
    return rules;
}

std::string to_text(const std::vector<PackedChunk>& chunks) {
    MessageWriter to;
    to.number(std::ssize(chunks));
    for (const PackedChunk& chunk : chunks) {
        to.numbers(chunk.start);
        to.text({reinterpret_cast<const char*>(chunk.bytes.data()), chunk.bytes.size()});
    }
    return to.take();
}

std::vector<PackedChunk> chunks_from_text(const std::string& text) {
    MessageReader from(text);
    std::vector<PackedChunk> chunks(from.count(2 * sizeof(std::int64_t)));
    for (PackedChunk& chunk : chunks) {
        chunk.start = from.numbers();
        const std::string bytes = from.text();
        chunk.bytes.resize(bytes.size());
        std::transform(bytes.begin(), bytes.end(), chunk.bytes.begin(),
                       [](char byte) { return static_cast<std::byte>(byte); });
    }
    from.end();
    return chunks;
}

std::string answer_text(const std::string& reply) { return std::string(good_answer) + reply; }

std::string answer_text(const Error& failure) {
    const ErrorText& text = failure.text();
    std::string answer;
    for (const std::string& part :
         {std::string(error_answer), std::to_string(static_cast<int>(failure.code())), text.what,
          text.where, text.why, text.try_this}) {
        answer += part.substr(0, part.find('\0')) + '\0';
    }
    return answer;
}

std::optional<std::string> reply_of(const std::string& answer) {
    return answer.starts_with(good_answer) ? std::optional(answer.substr(good_answer.size()))
                                           : std::nullopt;
}

std::optional<Error> error_of(const std::string& answer) {
    if (reply_of(answer)) {
        return std::nullopt;
    }
    const std::vector<std::string> parts = parts_of(answer);
    if (parts.size() != 6 || parts[0] != error_answer) {
        return std::nullopt;
    }
    return Error(code_of(parts[1]), {printable(parts[2]), printable(parts[3]), printable(parts[4]),
                                     printable(parts[5])});
}

std::string answer_head(int status, std::size_t bytes) {
    std::string head = fmt::format("{} {}", status, bytes);
    head.resize(message_head_bytes, ' ');
    return head;
}

} // namespace runner
