// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe/probe_child.hpp"

#include "base/limits.hpp"
#include "base/sizes.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/message.hpp"
#include "io/input/check_dataset.hpp"
#include "io/input/layout_message.hpp"
#include "io/input/open_rows.hpp"
#include "io/metadata/content_message.hpp"
#include "io/metadata/metadata.hpp"
#include "io/metadata/read_metadata.hpp"
#include "runner/probe/probe_limits.hpp"
#include "runner/probe/probe_process.hpp"
#include "runner/probe/probe_words.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace runner {
namespace {

constexpr const char* get_again = "Get it again from where it was made";

/// What was asked for, as bytes. In the process that may be lost.
std::string reply_to(const ProbeRequest& request) {
    const auto& [way, file, dataset, rules, more] = request;
    if (way == "read") {
        return encode_layout(check_dataset(file, dataset, rules));
    }
    if (way == "store") {
        store_packed_chunks(file, dataset, chunks_from_text(more));
        return "";
    }
    if (way == "metadata") {
        return encode_metadata(read_metadata(file, dataset, rules));
    }
    OwnFiles files(rules);
    if (way == "list") {
        MessageWriter to;
        to.texts(files.object_names(file));
        return to.take();
    }
    if (way == "record") {
        return files.record_facts(file, MessageReader(more).texts());
    }
    check_way(file, dataset, rules);
    if (way == "has") {
        return files.has_dataset(file, dataset) ? "yes" : "no";
    }
    if (way == "attributes") {
        return encode_attributes(files.root_attributes(file));
    }
    return encode_content(files.content(file, dataset));
}

std::string answer_to(const ProbeRequest& request) {
    const ProbeLimits limits = probe_limits(request.file);
    try {
        enter_limits(limits);
        std::string reply = reply_to(request);
        const std::optional<Error> damage = structure_damage(request.where());
        return damage ? answer_text(*damage) : answer_text(reply);
    } catch (const std::exception& error) {
        return answer_text(as_fault_of_file(error, request.where(), limits));
    }
}

/// What the process writes until it ends, or the first part of it; then it is ended.
std::string answer_of(pid_t process, int descriptor) {
    std::string answer;
    std::array<char, 65536> part{};
    for (;;) {
        const ssize_t got =
            uninterrupted([&] { return ::read(descriptor, part.data(), part.size()); });
        if (got <= 0) {
            return answer;
        }
        answer.append(part.data(), static_cast<std::size_t>(got));
        if (answer.size() > ProbeProcess::longest_answer) {
            (void)::kill(process, SIGKILL);
            return "";
        }
    }
}

/// Has a process of its own answer; what it wrote, behind how it ended.
std::string answer_apart(const ProbeRequest& request) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
        return "";
    }
    const pid_t process = ::fork();
    if (process < 0) {
        const std::string refusal = answer_text(cannot_start("fork", errno));
        (void)::close(pipe[0]);
        (void)::close(pipe[1]);
        return answer_head(0, refusal.size()) + refusal;
    }
    if (process == 0) {
        ::_exit(write_all(pipe[1], answer_to(request)) ? 0 : static_cast<int>(ExitCode::launch));
    }
    (void)::close(pipe[1]);
    const std::string answer = answer_of(process, pipe[0]);
    (void)::close(pipe[0]);
    int status = 0;
    (void)uninterrupted([&] { return ::waitpid(process, &status, 0); });
    return answer_head(status, answer.size()) + answer;
}

} // namespace

Error as_fault_of_file(const std::exception& error, const std::string& where,
                       const ProbeLimits& limits) {
    const auto* const told = dynamic_cast<const Error*>(&error);
    if (const std::optional<Error> damage = structure_damage(
            told == nullptr || told->text().where.empty() ? where : told->text().where)) {
        return *damage; // what failed after it may be told as something else
    }
    if (const auto* known = dynamic_cast<const Error*>(&error)) {
        if (known->code() != ExitCode::defect) {
            // What fails over a group, an attribute or a property has only a handle of HDF5's.
            ErrorText text = known->text();
            text.where = text.where.empty() ? where : text.where;
            return {known->code(), std::move(text)};
        }
        // Calls that HDF5 refuses for no fault but the file's.
        return {ExitCode::input,
                {"the file is damaged", where, known->text().what + ": " + known->text().why,
                 get_again}};
    }
    const auto most = most_address_space();
    const bool is_alloc = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    if (const std::optional<Error> known = system_failure(error);
        known && (!is_alloc || (most && *most < limits.memory))) {
        return *known; // of a limit that is not this process' own
    }
    if (is_alloc) {
        return {ExitCode::input,
                {"the file is damaged or malicious", where,
                 "reading its structure takes more than " + size_text(limits.memory) + " of memory",
                 get_again}};
    }
    return {ExitCode::input, {"cannot read the input's structure", where, error.what(), get_again}};
}

bool write_all(int descriptor, const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t written = uninterrupted(
            [&] { return ::write(descriptor, text.data() + done, text.size() - done); });
        if (written < 0) {
            return false;
        }
        done += static_cast<std::size_t>(written);
    }
    return true;
}

bool read_all(int descriptor, char* to, std::size_t bytes) {
    while (bytes > 0) {
        const ssize_t got = uninterrupted([&] { return ::read(descriptor, to, bytes); });
        if (got <= 0) {
            return false;
        }
        to += got;
        bytes -= static_cast<std::size_t>(got);
    }
    return true;
}

bool is_probe(std::span<const std::string> arguments) {
    return arguments.size() == 1 && arguments[0] == many_probes_verb;
}

ExitCode answer_probes() {
    prepare_checks();
    while (const std::optional<ProbeRequest> request = read_request(STDIN_FILENO)) {
        const std::string answer = answer_apart(*request);
        if (answer.empty() || !write_all(STDOUT_FILENO, answer)) {
            return ExitCode::launch;
        }
    }
    return ExitCode::ok;
}

} // namespace runner
