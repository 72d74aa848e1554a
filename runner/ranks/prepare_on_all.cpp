// SPDX-License-Identifier: BSD-3-Clause
#include "runner/ranks/prepare_on_all.hpp"

#include "runner/probe/probed_files.hpp"

#include <string>
#include <utility>

namespace runner {

PreparedJob prepare_on_all(const std::function<JobFile()>& load, const Ranks& ranks,
                           Prober& prober) {
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

} // namespace runner
