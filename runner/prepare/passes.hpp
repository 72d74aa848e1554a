// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/pipeline/pipeline_parameters.hpp"
#include "runner/prepare/prepare.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// One pass of a job over data: a job of its own. What it reads is the job's input, or what the
/// pass before has made.
struct JobPass {
    JobFile file;
    PassPlace place = {};
    DatasetInfo input = {};            ///< of a pass but the first: as the one before makes it
    std::vector<StepFacts> steps = {}; ///< empty where the job is of one kind
    std::string end = {};              ///< why the next step is not in it; empty of the last pass
    /// PreparedJob's, of the job's input; and of a kept output that it is not the job's own.
    std::vector<std::string> settled = {};
    bool is_kept = false; ///< of a pass but the last: a step saves its output
};

/// The passes of a job, in order; one where it is no pipeline or its steps all stream. Pure but for
/// reading the input's structure by `files`. @throws Error (usage, input).
std::vector<JobPass> passes_of(const JobFile& file, FileAccess& files,
                               RowOrders orders = RowOrders::are_read);

/// The pass as if its input were there. @throws Error (usage, input).
PreparedJob prepare_pass(const JobPass& pass, FileAccess& files);

/// "uint16 [5, 40, 30] to float32 [5, 40, 30], halo 4".
std::string step_text(const StepFacts& step);

} // namespace runner
