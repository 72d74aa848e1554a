// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_mark.hpp"
#include "io/input/file_access.hpp"
#include "io/output/own_parts.hpp"
#include "io/rows/rows.hpp"
#include "jobs/kind.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/plan/job_plan.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// A job whose input is known: what `plan` and a run have in common.
struct PreparedJob {
    JobFile file;
    DatasetInfo input;               ///< of the file's part; or as `input.generate` will make it
    DatasetLayout layout;            ///< of the whole dataset, by which its rows are read
    FileMarks files;                 ///< every file that the job reads, as it was before
    std::optional<DatasetPart> part; ///< of it, that is the input
    bool input_is_missing = false;   ///< input.generate makes it first
    /// Settings for what the job file left to the input's file, as `output.dataset="/data"`.
    std::vector<std::string> settled;
    std::unique_ptr<Job> job;
    /// Reads the input's rows by so many threads; empty where its file does.
    std::function<std::unique_ptr<RowReader>(int threads)> rows;
    /// So short that a run of it that died is restarted and not resumed.
    bool is_brief = false;
    /// What was under the output's name when check_replaceable() accepted it.
    FileMark replaces;

    /// The files that the output is kept in, once claim_output() has settled them.
    std::optional<PartLayout> parts;
    /// Which names the parts of the file have that is under the output's name, where it is an
    /// output in parts: the new one's have the others.
    std::optional<int> parts_set;

    /// That of the output which the run makes.
    std::optional<int> own_parts_set() const {
        return parts && parts->several() ? std::optional(parts->set) : std::nullopt;
    }

    /// Whether finished parts are synced to the disk, so that a run can be resumed after a power
    /// cut.
    RowWriter::Sync parts_sync() const {
        return file.output.sync && !is_brief ? RowWriter::Sync::yes : RowWriter::Sync::no;
    }

    /// What the job makes.
    ArrayInfo output() const { return job->output(); }
    /// Its datasets in the output's file, where they are several.
    std::vector<OutputField> fields() const;
};

/// Where one of several datasets is: output.dataset is their group then.
std::string field_name(const std::string& group, const std::string& field);

/// Reads the input's structure by `files`; the job is yet to be made. @throws Error (input).
PreparedJob prepare_input(JobFile file, FileAccess& files);

/// The prepared input as the job is made for it.
JobInput job_input(const PreparedJob& prepared, FileAccess& files);

/// Makes the job for the prepared input. @throws Error (usage, input).
PreparedJob with_job(PreparedJob prepared, FileAccess& files);

/// All of these. @throws Error (usage, input).
PreparedJob prepare_job(JobFile file, FileAccess& files);

/// What one rank may take, found on the machine or given on the command line.
struct RankLimits {
    int cores = 1;
    std::int64_t host_memory = 0;   ///< available to the rank
    std::int64_t device_memory = 0; ///< free for the rank on its GPU
};

/// What a prepared job is planned from: limits as the job file sets them within what is available.
/// `done`: rows that an earlier run has finished. `prepared` outlives the request.
PlanRequest plan_request(const PreparedJob& prepared, Backend backend, int ranks,
                         const RankLimits& limits, const RowSet& done = {});

/// The parts of the output: those that are settled, or as a run on so many ranks, each with so many
/// cores, would choose them.
PartLayout planned_parts(const PreparedJob& prepared, int ranks, int cores);

/// The parts that output.parts = "auto" makes of so many bytes, unless rows or chunks allow fewer:
/// as many as the ranks' cores can write at once, and none for what is written in no time.
std::int64_t automatic_parts(std::int64_t bytes, int ranks, int cores);

/// The dataset the job writes, under the name it has while it is being written.
OutputDataset output_dataset(const PreparedJob& prepared);

/// Bytes the output takes on its file system, and those free there, before the run.
struct DiskSpace {
    std::int64_t needed = 0;
    std::int64_t free = 0;
};
/// @throws Error (output) when the output's folder is not there.
DiskSpace disk_space(const PreparedJob& prepared);

/// The same, with so many bytes of scratch files. @throws Error (usage) when they do not fit
/// either.
DiskSpace sufficient_disk_space(const PreparedJob& prepared, std::int64_t scratch_bytes);

} // namespace runner
