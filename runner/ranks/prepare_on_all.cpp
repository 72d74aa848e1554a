// SPDX-License-Identifier: BSD-3-Clause
#include "runner/ranks/prepare_on_all.hpp"

#include "runner/probe/probed_files.hpp"

#include <string>

namespace runner {

PreparedJob prepare_on_all(const JobPass& pass, const Ranks& ranks, Prober& prober) {
    std::string answers;
    if (ranks.size() > 1) {
        ranks.first_alone([&] {
            ProbedFiles files(prober, pass.file.input.rules);
            (void)prepare_job(pass.file, files, pass.place);
            answers = files.answers();
        });
        answers = ranks.broadcast(answers);
    }
    return ranks.together([&] {
        ProbedFiles files(prober, pass.file.input.rules);
        if (!answers.empty()) {
            files.take_answers(answers);
        }
        return prepare_job(pass.file, files, pass.place);
    });
}

std::vector<JobPass> passes_on_all(const JobFile& job, const Ranks& ranks, Prober& prober) {
    std::vector<JobPass> passes;
    std::string answers;
    ranks.first_alone([&] {
        if (job.pipeline) {
            ProbedFiles files(prober, job.input.rules);
            passes = passes_of(job, files);
            answers = files.answers();
        }
    });
    if (ranks.least(ranks.first() && passes.size() < 2 ? 0 : 1) == 0) {
        return {};
    }
    answers = ranks.broadcast(answers);
    ranks.together([&] {
        ProbedFiles files(prober, job.input.rules);
        files.take_answers(answers);
        passes = passes_of(job, files);
    });
    return passes;
}

} // namespace runner
