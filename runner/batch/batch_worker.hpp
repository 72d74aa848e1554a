// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "io/files/file_mark.hpp"
#include "runner/batch/batch_plan.hpp"
#include "runner/batch/batch_record.hpp"
#include "runner/output/output_claim.hpp"
#include "runner/prepare/passes.hpp"
#include "runner/probe/prober.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/ranks/mpi.hpp"
#include "runner/run_command.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace runner::batch {

/// How one try at a dataset ended.
enum class DatasetEnding {
    done,
    already,          ///< it was done when its turn came
    stopped,          ///< it can be resumed
    taken,            ///< another process has it
    failed_elsewhere, ///< another process has tried it since the batch was planned
};

/// Runs the datasets of a planned batch. The output's lock alone says who runs one, so that ranks
/// and other batches need no word between them.
class Worker {
  public:
    /// What is referred to outlives this. `history`: read before anything of this batch was put
    /// down; `start`: of the program.
    Worker(const RunCommand& command, const Plan& plan, const RankBinding& binding,
           HistoryReader history, Record& record, Prober& prober,
           std::chrono::steady_clock::time_point start);

    /// Locks the output, looks again, and runs the job unless somebody else does or has.
    /// Collective. @throws AgreedError before the stream; Error within it, on one rank.
    DatasetEnding work_on(const PlannedDataset& planned, const Ranks& ranks);

    /// The last that is known of a dataset since the batch was planned, or nullptr.
    const DatasetEvent* news(const PlannedDataset& planned) const {
        return history_.news(planned.dataset.output);
    }

  private:
    /// What the first rank finds out before any rank opens the dataset.
    struct Hold {
        std::unique_ptr<output::Claim> claim;
        DatasetEnding ending = DatasetEnding::taken; ///< where there is no claim
        FileMark input;
    };
    /// What is to become of the output, once it is locked.
    enum class Way { leave, proceed, restart, restart_and_brief };

    DatasetEnding work_on_passes(const PlannedDataset& planned, std::vector<JobPass> passes,
                                 const Hold& hold, const Ranks& ranks);
    void allow_replacing(JobPass& pass, FileAccess& files);
    Hold take(const PlannedDataset& planned);
    std::unique_ptr<output::Claim> take_output(const std::string& output) const;
    bool is_done_since(const PlannedDataset& planned);
    Way choose_way(const PlannedDataset& planned, const PreparedJob& prepared,
                   const std::string& identity, output::Claim& claim);
    bool is_brief(const PlannedDataset& planned, const PreparedJob& prepared) const;
    void note_speed(const PlannedDataset& planned, Way way, double seconds);
    RunCommand command_for(const Dataset& dataset) const;

    const RunCommand& command_;
    const Plan& plan_;
    const RankBinding& binding_;
    Record& record_;
    Prober& prober_;
    std::chrono::steady_clock::time_point start_;
    HistoryReader history_;
    double slowest_ = 0; ///< seconds a byte, of the datasets that were run; 0: none yet
};

} // namespace runner::batch
