// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "kernels/queue/staging_pool.hpp"
#include "runner/engines/engine.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/memory/memory_files.hpp"
#include "runner/memory/memory_rows.hpp"
#include "runner/prepare/passes.hpp"
#include "runner/watch/stop.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// A job whose input and outputs are arrays of this process: the engines, plans and limits of a job
/// file, with no file, no journal and no other rank. Its bytes are those of the same job from
/// files. Nothing is printed.
class MemoryJob {
  public:
    /// `text`: the job file, whose input.file and output.file are names for messages; `name` stands
    /// for its own path. `channels`: DatasetInfo's, of the input.
    /// `arrays`: those that the text names as files; they outlive the job.
    /// @throws Error (usage, input) as preparing a job does.
    MemoryJob(const std::string& text, const std::string& name, const ArrayInfo& input,
              std::optional<int> channels, std::vector<NamedArray> arrays = {});

    /// What it makes, in the order in which run() takes the arrays.
    const std::vector<ArrayInfo>& outputs() const { return outputs_; }
    const ArrayInfo& input() const { return input_.array; }

    /// Where the rows are worked on.
    struct Place {
        BackendChoice backend = BackendChoice::automatic;
        int device = 0;                                 ///< CUDA's index
        std::shared_ptr<StagingPool> staging = nullptr; ///< page-locked memory of earlier runs
    };

    /// Reads the array at `input` and writes those at `outputs`, dense and row-major, which do not
    /// overlap it. Returns false where `stop` ended it early; the outputs are then unfinished.
    /// @throws Error.
    bool run(const std::byte* input, std::span<std::byte* const> outputs, const Place& place,
             Stop& stop);

    /// What was odd about the input of the run() that has ended, as Job::notes().
    const std::vector<std::string>& notes() const { return notes_; }

    /// Drops what run() has in flight now, for a run that is asked to stop; from any thread.
    void drop();

    /// How far run() is, or was at its end; from any thread.
    struct Progress {
        std::int64_t done = 0;
        std::int64_t total = 0; ///< rows; of sand generations
    };
    Progress progress() const;

  private:
    bool run_pass(const JobPass& pass, const std::byte* input, std::span<const MemoryField> fields,
                  const Place& place, Stop& stop);
    void show(const EngineRun* engine, InFlight* in_flight);

    DatasetInfo input_;
    std::vector<NamedArray> arrays_;
    std::vector<JobPass> passes_;
    std::vector<ArrayInfo> outputs_;
    std::vector<std::string> notes_;
    mutable std::mutex mutex_; ///< of all that progress() and drop() read
    const EngineRun* engine_ = nullptr;
    InFlight* in_flight_ = nullptr;
    std::size_t passes_done_ = 0;
    Progress last_;
};

} // namespace runner
