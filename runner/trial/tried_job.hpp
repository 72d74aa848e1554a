// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/prepare/prepare.hpp"
#include "runner/probe/prober.hpp"
#include "runner/trial/part/part_choice.hpp"
#include "runner/trial/part/part_course.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner::trial {

/// A step that takes a state from generation to generation.
struct EvolvingStep {
    std::string table;            ///< of its keys: "sand", or "step.2" of a pipeline
    std::int64_t cells = 0;       ///< of the state
    std::int64_t generations = 0; ///< that the whole job computes
    std::int64_t input_frame = 0; ///< that the state begins as
};

/// What a combination of a sweep makes.
struct TriedCourse {
    std::vector<MadeAxis> made;                ///< the axes of its output
    std::vector<Likeness::Values> values;      ///< of the output of each step
    std::vector<EvolvingStep> evolving;        ///< its steps that are; usually none
    std::optional<std::array<double, 2>> ends; ///< Job::clipped_to() of the last step
};

/// A job whose part is tried, once with its own values or for each combination of a sweep.
struct TriedJob {
    /// The settings that each run adds to those of the command line, one list or more.
    std::vector<std::vector<std::string>> combinations;
    std::vector<JobFile> files;       ///< the job of each combination
    std::vector<TriedCourse> courses; ///< of each combination, along the same axes of the input
    PreparedJob input;                ///< the first pass of the first combination
    WholeInput whole;                 ///< as all combinations together may cut it
    /// Why the results of a part may differ from the whole job's everywhere; empty if they do not.
    std::string why_inexact;

    /// The largest number of generations of a step; 0: none evolves.
    std::int64_t generations() const;
};

/// A part of the input, and of the generations that steps compute of it.
struct TriedPart {
    Box box;
    std::int64_t generations = 0; ///< at most, where steps evolve
};

/// The settings of a sweep: every value of the first key with every value of the second; one empty
/// list without a sweep.
std::vector<std::vector<std::string>> combinations_of(const JobFile& file);

/// Reads and checks the job with each combination of its sweep.
/// @throws Error (usage) if the combinations make arrays of different axes, and as load_job_file()
/// and prepare_job() do; (input).
TriedJob tried_job(const std::string& path, const std::vector<std::string>& settings,
                   Prober& prober);

/// Adds a combination of settings to those of a job that tried_job() has read from `path` with
/// `settings`. @throws Error (usage) if it moves the borders or the blocks of the job beyond those
/// of the other combinations, and as tried_job() does.
void add_combination(TriedJob& job, const std::string& path, std::vector<std::string> settings,
                     const std::vector<std::string>& combination, Prober& prober);

/// The settings of a run that takes the part and writes only files whose names begin with `name`.
std::vector<std::string> part_settings(const TriedJob& job, std::size_t combination,
                                       const TriedPart& part, const std::string& name);

/// Refuses a part that takes about as long as a whole job. @throws Error (usage).
void require_small_part(const TriedJob& job, const Box& part);

/// Generations of the steps that evolve, by which they update about so many cells.
std::int64_t generations_for(const TriedJob& job, double updates);

/// Whether the steps from `first` on keep the unit of values.
bool keeps_unit(const TriedCourse& course, std::size_t first);

/// The output file of such a run.
std::string part_output(const JobFile& file, const std::string& name);

} // namespace runner::trial
