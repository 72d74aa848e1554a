// SPDX-License-Identifier: BSD-3-Clause
#include "runner/ranks/prepare_on_all.hpp"

#include "runner/probe/probed_files.hpp"

#include <string>
#include <utility>

namespace runner {

PreparedJob prepare_on_all(const LoadJob& load, const Ranks& ranks, Prober& prober) {
    std::string answers;
    if (ranks.size() > 1) {
        ranks.first_alone([&] {
            JobFile file = load();
            ProbedFiles files(prober, file.input.rules);
            (void)prepare_job(std::move(file), files);
            answers = files.answers();
        });
        answers = ranks.broadcast(answers);
    }
    return ranks.together([&] {
        JobFile file = load();
        ProbedFiles files(prober, file.input.rules);
        if (!answers.empty()) {
            files.take_answers(answers);
        }
        return prepare_job(std::move(file), files);
    });
}

std::vector<JobPass> passes_on_all(const LoadJob& load, const Ranks& ranks, Prober& prober) {
    std::vector<JobPass> passes;
    std::string answers;
    ranks.first_alone([&] {
        const JobFile file = load();
        if (file.pipeline) {
            ProbedFiles files(prober, file.input.rules);
            passes = passes_of(file, files);
            answers = files.answers();
        }
    });
    if (ranks.least(ranks.first() && passes.size() < 2 ? 0 : 1) == 0) {
        return {};
    }
    answers = ranks.broadcast(answers);
    ranks.together([&] {
        const JobFile file = load();
        ProbedFiles files(prober, file.input.rules);
        files.take_answers(answers);
        passes = passes_of(file, files);
        return true;
    });
    return passes;
}

} // namespace runner
