// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe/prober.hpp"

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <vector>

#include <sys/wait.h>

namespace runner {

std::string Prober::ask(const ProbeRequest& request) {
    const std::string where = request.where();
    if (std::getenv(ProbeProcess::mark) != nullptr) {
        throw Error(ExitCode::defect, {"a probe would start another", where,
                                       std::string(ProbeProcess::mark) + " is set", "Unset it"});
    }
    const ProbeLimits limits = limits_(request.file);
    std::optional<Outcome> outcome;
    constexpr int tries = 2; // it may have been ended from outside
    for (int i = 0; i < tries && !outcome; ++i) {
        outcome = try_to_ask(request, limits);
    }
    if (!outcome) {
        throw Error(ExitCode::launch, {"the process that reads the inputs' structure ends at once",
                                       where, "", "Restart the job"});
    }
    if (const std::optional<Error> told = error_of(outcome->answer)) {
        throw Error(*told);
    }
    std::optional<std::string> reply = reply_of(outcome->answer);
    if (!reply || !WIFEXITED(outcome->status) || WEXITSTATUS(outcome->status) != 0) {
        explain_probe_end(where, outcome->status, limits);
    }
    return *std::move(reply);
}

std::optional<Prober::Outcome> Prober::try_to_ask(const ProbeRequest& request,
                                                  const ProbeLimits& limits) {
    const auto deadline = ProbeProcess::Clock::now() + std::chrono::seconds(limits.seconds);
    if (!process_) {
        process_ = std::make_unique<ProbeProcess>(
            std::vector<std::string>{"runner", std::string(many_probes_verb)},
            ProbeProcess::Input::pipe);
    }
    try {
        std::optional<std::string> head;
        if (process_->send(to_text(request))) {
            head = process_->read_before(deadline, message_head_bytes);
            if (!head) {
                throw_too_slow(request.where(), limits);
            }
        }
        if (head && head->size() == message_head_bytes) {
            Outcome outcome;
            std::size_t bytes = 0;
            std::istringstream(*head) >> outcome.status >> bytes;
            std::optional<std::string> text = bytes > ProbeProcess::longest_answer
                                                  ? std::nullopt
                                                  : process_->read_before(deadline, bytes);
            if (text && text->size() == bytes) {
                outcome.answer = std::move(*text);
                return outcome;
            }
        }
    } catch (const Error&) {
        process_.reset(); // with the forked process that does not end
        throw;
    }
    process_.reset();
    return std::nullopt;
}

} // namespace runner
