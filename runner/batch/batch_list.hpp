// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/batch/manifest.hpp"
#include "runner/job_file/job_file.hpp"

#include <span>
#include <string>
#include <vector>

namespace runner::batch {

/// One dataset of a batch.
struct Dataset {
    std::string input;
    std::string output;
    std::vector<ManifestEntry::Setting> settings; ///< its own, from a manifest's line
    std::vector<std::string> saves = {};          ///< the files that steps of its job save
};

/// What a batch lists.
struct List {
    std::vector<Dataset> datasets;
    std::string note; ///< about inputs that are left out, for a person; "" where none are
};

/// The datasets of a batch (`job.batch` is there) with their outputs: of patterns sorted by the
/// inputs' names, of a manifest in its order; an input that is named twice stands once.
/// @throws Error (usage, with file:line:column): two datasets that would write one file, a dataset
/// that would write over an input, outputs that the patterns would take for inputs. (input): a
/// pattern that names no file, a folder that cannot be listed, inputs that are not there, unless
/// they are to be left out. `settings`: of the command line.
List list_datasets(const JobFile& job, std::span<const std::string> settings);

/// The job of one dataset, as its output records it: `settings`, what the command line lays over
/// the job file, then the dataset's own.
std::vector<std::string> settings_for(const Dataset& dataset,
                                      std::span<const std::string> settings);

/// @throws Error (usage) for settings that do not fit, each with its place.
JobFile job_for(const Dataset& dataset, const JobFile& batch,
                std::span<const std::string> settings);

} // namespace runner::batch
