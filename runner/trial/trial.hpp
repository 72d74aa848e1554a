// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "runner/job_file/job_file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner::trial {

/// `runner try JOB.toml`.
struct TryCommand {
    std::string job;
    std::vector<std::string> settings; ///< table.key=value, in the order given
    std::vector<std::string> sweep;    ///< "denoise.strength=0.4,0.8", over those of [sweep]
    std::optional<BackendChoice> backend;
    std::string part = "central";   ///< or "first", or as parse_part() reads it
    std::optional<std::string> out; ///< folder of page and pictures; nothing: OUTPUT.try
    bool keep = false;              ///< keep the outputs of the runs on the part in that folder
    double seconds = 3;             ///< about how long a run on the part takes
    std::int64_t slices = 1;        ///< images of the part that the page shows, ≥ 1
    /// The numbers of the images to show instead, along the third axis from the last.
    std::vector<std::int64_t> at;
    /// What the whole job should make, to compare the pictures with; "": nothing.
    std::string against_file;
    std::string against_dataset; ///< "": its only one
    /// A number to look for between two ends, instead of a sweep: "denoise.strength=0.2..0.8".
    std::optional<std::string> halve;
    bool until_noise = false; ///< halve by what was removed; otherwise ask the person each time
    /// The combination of the sweep, from 1, to write into the job file; nothing: try the job.
    std::optional<std::int64_t> pick;
};

/// The result of a trial.
struct TryReport {
    ExitCode code = ExitCode::ok; ///< if another, messages have been printed and `text` is empty
    std::string text;             ///< for standard output, lines
};

/// Writes the values that `pick` names into the job file, whose other bytes stay, and returns what
/// it changed. @throws Error (usage) if there is no such combination, or the file has no place for
/// a value; (input, output).
std::string pick_combination(const TryCommand& command);

/// Runs the job on a part of its input, once or for each value of a sweep, in processes of their
/// own. Writes a page with pictures before and after, and the predicted time and memory of the
/// whole job. Does not touch the output that the job file names. For a process that no launcher
/// started.
/// @throws Error (usage) if a part of the input says nothing about the whole; (input, output,
/// launch).
TryReport try_job(const TryCommand& command);

} // namespace runner::trial
