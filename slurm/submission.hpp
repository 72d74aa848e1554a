// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "slurm/allocation.hpp"
#include "slurm/site_file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace runner::slurm {

/// A job on its way to Slurm: from this its scripts follow. All paths are absolute.
struct Submission {
    std::string name;                   ///< of the job, as a person wrote it
    std::string program;                ///< that the ranks run
    std::vector<std::string> arguments; ///< of it
    std::string folder;                 ///< where the job's paths begin
    std::string logs;                   ///< the folder of scripts and logs
    Allocation allocation;

    /// Tasks that share a batch, each of them with such an allocation.
    struct Array {
        int tasks = 1;
        std::optional<int> at_once; ///< nothing: as many as Slurm lets
    };
    std::optional<Array> array;

    /// The state of a batch: the folder that tells how far it is.
    std::optional<std::string> state;

    /// A page that reports the batch, written after each run of it, of an array by the summary.
    std::optional<std::string> page;

    /// Files by which a person stops it, from `folder` on: while one is there it is not queued
    /// again.
    std::vector<std::string> stop_files;
};

/// The name as Slurm and files are to have it: letters, digits, '.', '_' and '-'.
std::string plain_name(const std::string& name);

/// Refuses what cannot stand in a script: line breaks and other control characters in any value
/// that the scripts hold. @throws Error (usage) naming the value.
void check_script_values(const Submission& submission, const SiteFile& site);

/// The batch script: all that is needed to run it is in it. Pure. docs/slurm.md and slurm/README.md
/// say why each line is there. @throws Error (usage) as check_script_values().
std::string batch_script(const Submission& submission, const SiteFile& site);

/// The script of the step after an array, which says how far the batch is and ends with 0 only
/// when all of it is done. Pure. @throws Error (usage) as check_script_values().
std::string summary_script(const Submission& submission, const SiteFile& site);

/// Where these scripts are put.
std::string script_path(const Submission& submission);
std::string summary_path(const Submission& submission);

/// The arguments of sbatch for each. The summary follows the array however that ended: when
/// something failed is when it is needed most. `array_id` is what sbatch said of the array.
std::vector<std::string> sbatch_arguments(const Submission& submission);
std::vector<std::string> summary_arguments(const Submission& submission,
                                           const std::string& array_id);

} // namespace runner::slurm
