// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/prepare/prepare.hpp"
#include "runner/probe/prober.hpp"
#include "runner/trial/part_choice.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// A job whose part is tried, once with its own values or for each combination of a sweep.
struct TriedJob {
    /// The settings that each run adds to those of the command line, one list or more.
    std::vector<std::vector<std::string>> combinations;
    std::vector<JobFile> files; ///< the job of each combination
    PreparedJob input;          ///< the first pass of the first combination
    WholeInput whole;           ///< with the locality of all combinations together
    std::vector<std::array<std::int64_t, 3>> blocks; ///< Locality::block of each combination
    /// Why the results of a part may differ from the whole job's everywhere; empty if they do not.
    std::string why_inexact;
};

/// The settings of a sweep: every value of the first key with every value of the second; one empty
/// list without a sweep.
std::vector<std::vector<std::string>> combinations_of(const JobFile& file);

/// Reads and checks the job with each combination of its sweep.
/// @throws Error (usage) if a part of the input says nothing about the whole, and as
/// load_job_file() and prepare_job() do; (input).
TriedJob tried_job(const std::string& path, const std::vector<std::string>& settings,
                   Prober& prober);

/// The settings of a run that takes the part and writes only files whose names begin with `name`.
std::vector<std::string> part_settings(const TriedJob& job, std::size_t combination,
                                       const Box& part, const std::string& name);

/// The output file of such a run.
std::string part_output(const JobFile& file, const std::string& name);

/// A box of the input, which begins at multiples of the blocks, as a box of the output of the
/// run on `part`.
Box output_box(const TriedJob& job, std::size_t combination, const Box& part, const Box& box);

} // namespace runner
