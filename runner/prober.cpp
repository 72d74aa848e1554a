// SPDX-License-Identifier: BSD-3-Clause
#include "runner/prober.hpp"

#include "runner/probe_words.hpp"

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <vector>

#include <sys/wait.h>

namespace runner {

std::optional<Error> Prober::look(const std::string& way, const std::string& file,
                                  const std::string& dataset, const InputRules& rules) {
    const std::string where = dataset.empty() ? file : file + ":" + dataset;
    if (std::getenv(ProbeProcess::mark) != nullptr) {
        throw Error(ExitCode::defect, {"a probe would start another", where,
                                       std::string(ProbeProcess::mark) + " is set", "Unset it"});
    }
    const ProbeLimits limits = limits_(file);
    std::string request;
    for (const std::string& part : {way, file, dataset, to_text(rules)}) {
        request += part.substr(0, part.find('\0')) + '\0';
    }
    std::optional<Outcome> outcome;
    constexpr int tries = 2; // it may have been ended from outside
    for (int i = 0; i < tries && !outcome; ++i) {
        outcome = ask(request, where, limits);
    }
    if (!outcome) {
        throw Error(ExitCode::launch, {"the process that looks at the inputs ends at once", where,
                                       "", "Start again"});
    }
    std::optional<Error> told = error_of(outcome->answer);
    if (!told && !(WIFEXITED(outcome->status) && WEXITSTATUS(outcome->status) == 0 &&
                   is_good(outcome->answer))) {
        explain_probe_end(where, outcome->status, limits);
    }
    return told;
}

std::optional<Prober::Outcome> Prober::ask(const std::string& request, const std::string& where,
                                           const ProbeLimits& limits) {
    const auto deadline = ProbeProcess::Clock::now() + std::chrono::seconds(limits.seconds);
    if (!process_) {
        process_ = std::make_unique<ProbeProcess>(
            std::vector<std::string>{"runner", std::string(many_probes_verb)},
            ProbeProcess::Input::pipe);
    }
    std::optional<std::string> text;
    std::optional<std::string> head;
    if (process_->send(request)) {
        head = process_->read_before(deadline, answer_head_bytes);
        if (!head) {
            process_.reset(); // with the look that does not end
            throw_too_slow(where, limits);
        }
    }
    if (head && head->size() == answer_head_bytes) {
        Outcome outcome;
        std::size_t bytes = 0;
        std::istringstream(*head) >> outcome.status >> bytes;
        text = process_->read_before(deadline, bytes);
        if (text && text->size() == bytes) {
            outcome.answer = std::move(*text);
            return outcome;
        }
    }
    process_.reset();
    return std::nullopt;
}

} // namespace runner
