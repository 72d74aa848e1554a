// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_mark.hpp"
#include "io/input/file_access.hpp"
#include "io/output/own_parts.hpp"
#include "io/rows/rows.hpp"
#include "jobs/kind.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/plan/job_plan.hpp"
#include "runner/prepare/input_mask.hpp"
#include "runner/prepare/kept_frames.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// What a pass but the first reads: what the pass before has made of the job's own input.
struct InputOrigin {
    std::string file; ///< the job's own input, and its dataset
    std::string dataset;
    std::string after = {}; ///< "after step 2, transpose"; empty where a step saves what is read
    DatasetInfo info = {};  ///< of the job's input
    InputRules rules = {};  ///< by which its file is read
    std::string identity;   ///< of the job that makes this pass's input of it
    FrameRoles roles = {};  ///< and `part`: as JobInput's
    std::optional<DatasetPart> part = {};
    std::vector<std::int64_t> axes = {}; ///< of what is read, as JobInput's source_axes
    Axes names = {};                     ///< of what is read, as the steps before leave them
    std::optional<double> invalid = {};  ///< of what is read, as JobInput's
    InvalidRule invalid_rule = {};       ///< of the job, as JobInput's
    /// The mask of the job's input, for other frames of it; null: there is none.
    std::shared_ptr<const InputMask> mask = {};
    double masked = 0;                 ///< the number that its masked elements are
    ScanSetup setup = {};              ///< of what is read, as JobInput's
    std::vector<JobCount> counts = {}; ///< of the passes before this one
    FileMark mark = {};                ///< of the file that is read, once it is made
    FileMarks files = {};              ///< that the passes before this one read, but `file`
    /// The saved outputs of the passes before the last one, and their bytes.
    std::vector<std::pair<std::string, std::int64_t>> kept = {};
};

/// The place of a pass in a job of several.
struct PassPlace {
    std::optional<InputOrigin> origin = {}; ///< of a pass but the first
    /// The job's own output, of a pass but the last, whose STOP stops the pass too; else "".
    std::string of_job = {};
    /// Only the next pass reads what this one makes, and the job removes it: no step saves it.
    bool is_between = false;
};

/// A job whose input is known: what `plan` and a run have in common.
struct PreparedJob {
    JobFile file;
    PassPlace place;
    DatasetInfo input;               ///< of the file's part; or as `input.generate` will make it
    DatasetLayout layout;            ///< of the whole dataset, by which its rows are read
    FileMarks files;                 ///< every file that the job reads, as it was before
    std::optional<DatasetPart> part; ///< of it, that is the input
    /// The same as a part of what input.select takes, as input.region and input.frames count;
    /// nothing for all of that.
    std::optional<DatasetPart> region;
    FrameRoles roles;                      ///< of all frames of the dataset
    std::shared_ptr<const InputMask> mask; ///< of invalid elements; null: there is none
    bool input_is_missing = false;         ///< input.generate makes it first
    /// Settings for what the job file left to the input's file, as `output.dataset="/data"`.
    std::vector<std::string> settled;
    std::shared_ptr<const Job> job;
    std::optional<KeptFrames> kept; ///< beside what the job makes
    /// Reads the input's rows by so many threads; empty where its file does.
    std::function<std::unique_ptr<RowReader>(int threads)> rows;

    /// What the job makes.
    ArrayInfo output() const { return job->output(); }
    /// Its datasets in the output's file, where they are several.
    std::vector<OutputField> fields() const;

    /// Whether pictures show a last axis of what it reads or makes as colour: by `channels`, which
    /// a file or the job says, else as the job takes it; nothing where it does not care.
    std::optional<bool> shown_colour(const std::optional<int>& channels) const;

    /// How messages name what the job reads: "FILE:/dataset", or, of values between passes, whose
    /// file the user did not name, "after step 2, transpose".
    std::string input_name() const;
};

/// Where one of several datasets is: output.dataset is their group then.
std::string field_name(const std::string& group, const std::string& field);

/// Reads the input's structure by `files`; the job is yet to be made. @throws Error (input).
PreparedJob prepare_input(JobFile file, FileAccess& files, PassPlace place = {});

/// The prepared input as the job is made for it.
JobInput job_input(const PreparedJob& prepared, FileAccess& files);

/// Makes the job for the prepared input. @throws Error (usage, input).
PreparedJob with_job(PreparedJob prepared, FileAccess& files);

/// The prepared job once a survey of its input has found this; Job::notes() of what was found
/// follow the others in DatasetInfo::notes.
PreparedJob with_findings(const PreparedJob& prepared, const Findings& findings);

/// The input and the job prepared. @throws Error (usage, input).
PreparedJob prepare_job(JobFile file, FileAccess& files, PassPlace place = {});

/// The datasets of the finished output whose rows have checksums.
std::vector<std::string> datasets_with_checksums(const PreparedJob& prepared);

/// The dataset the job writes, under the name it has while it is being written. `parts`: the files
/// that it is kept in, once they are settled.
OutputDataset output_dataset(const PreparedJob& prepared, const PartLayout& parts = {});

} // namespace runner
