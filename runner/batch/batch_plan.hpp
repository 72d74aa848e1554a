// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/batch/batch_events.hpp"
#include "runner/batch/batch_list.hpp"
#include "runner/output/what_is_there.hpp"
#include "runner/prepare/plan_request.hpp"
#include "runner/probe/prober.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace runner::batch {

/// What is to become of a dataset.
enum class Fate {
    unknown, ///< not inspected yet
    done,    ///< its output is there and is the one the job makes
    to_do,   ///< nothing is there, or what an interrupted run left
    redo,    ///< its output is stale
    refused  ///< it cannot be run; `reason` says why
};

struct PlannedDataset {
    Dataset dataset;
    Fate fate = Fate::unknown;
    ListedDataset listed;
    FileMark input;                 ///< of the input's file when it was inspected
    FileMark output;                ///< of what was under the output's name then
    FileMarks files;                ///< files_beside_input() of the last pass, where found
    std::int64_t disk_bytes = 0;    ///< of the output and what steps save
    std::int64_t between_bytes = 0; ///< the most that its passes store beside these for a while
    bool needs_all_ranks = false;   ///< it does not fit one
    bool ended_badly = false;       ///< in an earlier batch it failed, or ended without a word
    std::string identity;           ///< checksum of the last pass's job_identity(), where found
    ExitCode code = ExitCode::ok;   ///< of a refused one
    std::string reason;             ///< of a refused one, or why it is redone
};

/// A batch with each of its datasets inspected.
struct Plan {
    JobFile job;
    std::vector<std::string> settings; ///< of the command line
    std::vector<PlannedDataset> datasets;
    std::string note; ///< as List's

    std::int64_t count(Fate fate) const;
};

/// What a plan is made with.
struct Means {
    Backend backend = Backend::cpu;
    RankLimits limits; ///< of one rank
    int ranks = 1;     ///< on which a dataset that does not fit one is tried
};

/// Whether the last event of a dataset, or nullptr, tells that it was done and nothing has changed
/// since: not what makes up its key, nor its files. Looks at the files beside the input and the
/// output, which few datasets have.
bool is_known_done(const DatasetEvent* last, const std::string& key, const FileMark& input,
                   const FileMark& output);

/// Called before each dataset; may throw to end the work.
using BeforeEach = std::function<void()>;

/// The batch's datasets: `done` where the history says so and neither the job nor a file has
/// changed since, else `unknown`.
Plan list_batch(JobFile job, std::vector<std::string> settings, const History& history,
                const BeforeEach& before_each);

/// One of several equal parts of what is to be done.
struct Share {
    std::size_t index = 0;
    std::size_t of = 1;

    bool has(std::size_t item) const { return item % of == index; }
};

/// The places of the unknown datasets of a share.
std::vector<std::size_t> unknown_datasets(const Plan& plan, Share share);

/// Finds the fate of these datasets by their inputs and outputs. A dataset's errors become its
/// reason.
void look_at_datasets(Plan& plan, std::span<const std::size_t> places, const Means& means,
                      Prober& prober, const BeforeEach& before_each);

/// The plan for a person: how many of each fate, the first refused ones, the disk.
std::string batch_plan_text(const Plan& plan);

/// @throws Error (output) where the outputs to make do not fit on their disks together.
void check_disk(const Plan& plan);

} // namespace runner::batch
