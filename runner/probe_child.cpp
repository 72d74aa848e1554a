// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe.hpp"

#include "base/sizes.hpp"
#include "io/check_dataset.hpp"
#include "io/file_content.hpp"
#include "io/object_names.hpp"
#include "runner/probe_limits.hpp"
#include "runner/probe_process.hpp"
#include "runner/probe_words.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <new>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace runner {
namespace {

constexpr const char* get_again = "Get it again from where it was made";

void look(const std::string& way, const std::string& file, const std::string& dataset,
          const InputRules& rules) {
    if (way == "read") {
        return check_dataset(file, dataset, rules);
    }
    if (way == "list") {
        (void)object_names(file);
        (void)root_attributes(file);
        return;
    }
    check_way(file, dataset, rules);
    if (dataset.empty()) {
        (void)file_content(file);
    } else {
        (void)dataset_content(file, dataset);
    }
}

/// What is wrong with the input; nothing when it is good.
std::optional<Error> finding(std::span<const std::string> arguments) {
    const std::string& file = arguments[2];
    const std::string& dataset = arguments[3];
    const std::string where = dataset.empty() ? file : file + ":" + dataset;
    const ProbeLimits limits = probe_limits(file);
    try {
        enter_limits(limits);
        look(arguments[1], file, dataset, rules_from_text(arguments[4]));
        return std::nullopt;
    } catch (const Error& error) {
        if (error.code() != ExitCode::defect) {
            return error;
        }
        // Calls that HDF5 refuses for no fault but the file's.
        return Error(ExitCode::input, {"the input file is damaged", where,
                                       error.text().what + ": " + error.text().why, get_again});
    } catch (const std::bad_alloc&) {
        return Error(ExitCode::input,
                     {"the input file is damaged or malicious", where,
                      "looking at it takes more than " + size_text(limits.memory) + " of memory",
                      get_again});
    } catch (const std::exception& error) {
        return Error(ExitCode::input, {"cannot look at the input", where, error.what(), get_again});
    }
}

/// Writes all of it. False where nobody reads.
bool write_all(int descriptor, const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t written = ::write(descriptor, text.data() + done, text.size() - done);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        done += written < 0 ? 0 : static_cast<std::size_t>(written);
    }
    return true;
}

/// The next request's texts behind the verb; nothing where there are no more.
std::optional<std::vector<std::string>> read_request() {
    constexpr std::size_t parts = 5;
    std::vector<std::string> request = {std::string(probe_verb), ""};
    for (;;) {
        char byte = 0;
        const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return std::nullopt;
        }
        if (got < 0) {
            continue;
        }
        if (byte != '\0') {
            request.back() += byte;
        } else if (request.size() == parts) {
            return request;
        } else {
            request.emplace_back();
        }
    }
}

/// What the look writes until it ends, or the first part of it; then it is ended.
std::string answer_of(pid_t look, int descriptor) {
    std::string answer;
    std::array<char, 4096> part{};
    for (;;) {
        const ssize_t got = ::read(descriptor, part.data(), part.size());
        if (got > 0) {
            answer.append(part.data(), static_cast<std::size_t>(got));
        } else if (got == 0 || errno != EINTR) {
            return answer;
        }
        if (answer.size() > ProbeProcess::longest_answer) {
            (void)::kill(look, SIGKILL);
            return answer;
        }
    }
}

/// Has a process of its own do one look; what it wrote and how it ended.
std::string look_apart(const std::vector<std::string>& request) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
        return "";
    }
    const pid_t look = ::fork();
    if (look == 0) {
        ::_exit(write_all(pipe[1], answer_text(finding(request)))
                    ? 0
                    : static_cast<int>(ExitCode::launch));
    }
    (void)::close(pipe[1]);
    const std::string answer = look < 0 ? "" : answer_of(look, pipe[0]);
    (void)::close(pipe[0]);
    int status = static_cast<int>(ExitCode::launch) << 8; // where there could be no such process
    while (look > 0 && ::waitpid(look, &status, 0) < 0 && errno == EINTR) {
    }
    std::string head = std::to_string(status) + " " + std::to_string(answer.size());
    head.resize(answer_head_bytes, ' ');
    return head + answer;
}

ExitCode answer_many() {
    prepare_checks();
    while (const std::optional<std::vector<std::string>> request = read_request()) {
        const std::string answer = look_apart(*request);
        if (answer.empty() || !write_all(STDOUT_FILENO, answer)) {
            return ExitCode::launch;
        }
    }
    return ExitCode::ok;
}

} // namespace

bool is_probe(std::span<const std::string> arguments) {
    return (arguments.size() == 5 && arguments[0] == probe_verb) ||
           (arguments.size() == 1 && arguments[0] == many_probes_verb);
}

ExitCode answer_probe(std::span<const std::string> arguments) {
    if (arguments[0] == many_probes_verb) {
        return answer_many();
    }
    return write_all(STDOUT_FILENO, answer_text(finding(arguments))) ? ExitCode::ok
                                                                     : ExitCode::launch;
}

} // namespace runner
