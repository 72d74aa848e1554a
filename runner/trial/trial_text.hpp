// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/trial/choice/bisection.hpp"
#include "runner/trial/part/part_choice.hpp"
#include "runner/trial/trial.hpp"
#include "runner/trial/tried_job.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace runner::trial {

/// The settings of the command line as those of a job file, including the sweep.
std::vector<std::string> settings_of(const TryCommand& command);

/// The number, from 0, of the first step of a pipeline that a swept key belongs to; 0 of other jobs
/// and without a sweep.
std::size_t first_swept_step(const JobFile& file);

/// "Part [0:8, 0:100] of 16 x 100: 800 elements, 50 % of the input.", and of a state that evolves
/// the generations.
std::string part_line(const TriedJob& job, const TriedPart& part);

/// Which elements of the part are to the byte what the whole job makes of them.
std::string exact_line(const TriedJob& job, const TriedPart& part, const std::optional<Box>& exact);

/// The command that runs the whole job, all steps of a pipeline, with the values of a combination.
std::string whole_job_line(const TryCommand& command, const std::vector<std::string>& combination);

/// What a halving has chosen, and the commands to use it.
std::string choice_text(const TryCommand& command, const HalvedKey& key,
                        const Bisection& bisection);

/// What to try next where both ends of a halving are too strong, or neither is.
std::string no_choice_text(bool is_too_strong, const HalvedKey& key);

/// "whole job", or "whole input up to that step" where the command takes the first steps alone.
std::string what_is_predicted(const TryCommand& command);

/// "denoise.strength=0.4, denoise.count=8"; "" without a sweep.
std::string sweep_heading(const std::vector<std::string>& combination);

} // namespace runner::trial
