// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/images/levels_ahead.hpp"
#include "io/rows/rows.hpp"
#include "jobs/job.hpp"
#include "runner/engines/take_memory.hpp"
#include "runner/output/begin_output.hpp"
#include "runner/output/commits.hpp"
#include "runner/plan/job_plan.hpp"
#include "runner/plan/row_set.hpp"
#include "runner/prepare/plan_request.hpp"
#include "runner/ranks/mpi.hpp"
#include "runner/watch/progress.hpp"
#include "runner/watch/stages.hpp"
#include "runner/watch/stop.hpp"
#include "runner/watch/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// The middle of a run on one rank: what is open while the engine runs. `progress` may be read
/// from another thread at any time, `commits` while progress.under_way.
struct OpenRun {
    OutputDataset output; ///< with its axes; nothing, where rows go to memory
    std::unique_ptr<LevelsAhead> levels;
    std::unique_ptr<RowReader> reader;
    std::unique_ptr<RowWriter> writer;
    std::unique_ptr<output::Commits> commits;
    RunProgress progress;
};

/// What a rank's share of a run works with; everything outlives it.
struct RunContext {
    const PreparedJob& prepared;
    const Ranks& ranks;
    const output::Beginning& beginning;
    OpenRun& open;
    const Stop& stop;
    /// Whether the survey that the job asks for saw the whole input: else nothing is run.
    bool surveyed = true;
};

/// By which the engine makes its queues, and what it reports to.
struct RunOutlets {
    QueueMaker make_queue;
    Trace* trace; ///< null: none is wanted
    std::function<void(const std::string& line)> say;
};

/// How a run was stopped, as every rank knows it.
struct Stopped {
    std::string reason;
    std::string done; ///< "3 of 7 rows of "
};

/// A rank's share of one run, in the order of its calls.
class EngineRun {
  public:
    virtual ~EngineRun() = default;

    /// Exchanges what ranks need of one another before the first piece. Collective.
    virtual void exchange() {}
    /// Does the rank's share: all that is to do, or as much as a stop leaves.
    virtual RunTimes run(const RunOutlets& outlets) = 0;
    /// How far run() is, without its stages and seconds. From any thread.
    virtual ProgressSnapshot snapshot() const = 0;
    /// After run(): nothing when every rank has finished its share. Collective.
    virtual std::optional<Stopped> agree_on_stop() const = 0;
};

/// Gets rows [rows.first, rows.last) of an output, counted through all frames, as elements; valid
/// during the call.
using TakeRows = std::function<void(RowRange rows, const std::byte* elements)>;
/// Computes rows of an output and passes them on in order, in pieces.
using ComputeRows = std::function<void(RowRange rows, const TakeRows& take)>;

/// Rows of an output that are in its file already, and may be damaged there.
class MadeRows {
  public:
    virtual ~MadeRows() = default;

    /// Reads rows into `space`, which has room for `space_rows` ≥ 1 of them, and passes them on in
    /// order, in pieces that begin there. False where they differ from their checksums or cannot be
    /// read: what was passed on has no meaning then.
    virtual bool read(RowRange rows, std::byte* space, std::int64_t space_rows,
                      const TakeRows& take) = 0;
};

/// What rows of an output are computed from, apart from the engine; outlives the computation.
struct RowSources {
    RowReader& input;
    MadeRows& made;             ///< the output's other rows
    std::int64_t alignment = 1; ///< of the output's storage
    int threads = 1;
};

/// A way to plan and run jobs, for all jobs of a class that derives from Job. engines() lists them.
class Engine {
  public:
    virtual ~Engine() = default;

    virtual bool runs(const Job& job) const = 0;

    /// Pure. @throws Error (usage) when the job does not fit, with the smallest change that would.
    virtual PlanPtr plan(const Job& job, const PlanRequest& request) const = 0;

    /// Whether each rank plans by its own memory. Else ranks depend on one another's plans, and all
    /// plan by the least memory.
    virtual bool plans_by_own_memory() const { return false; }

    /// The rank's share of a run, once input and output are open; reads what the ranks exchange.
    /// `plan` is this engine's, and the context's job one that it runs. Both outlive the run.
    virtual std::unique_ptr<EngineRun> start(const JobPlan& plan,
                                             const RunContext& context) const = 0;

    /// The rows of the job's input that a rank reads, in order. `plan` is this engine's.
    virtual std::vector<RowRuns> reads(const JobPlan& plan, int rank, const ArrayInfo& input) const;

    /// Computes rows of the output apart from the engine, with the CPU. The job outlives it.
    virtual ComputeRows row_computation(const Job& job, const RowSources& from) const = 0;
};

/// An engine for jobs of class J whose plans are of class P.
template <class J, class P> class EngineOf : public Engine {
  public:
    bool runs(const Job& job) const final { return dynamic_cast<const J*>(&job) != nullptr; }
    PlanPtr plan(const Job& job, const PlanRequest& request) const final {
        return std::make_shared<const P>(plan_job(job_of(job), request));
    }
    std::unique_ptr<EngineRun> start(const JobPlan& plan, const RunContext& context) const final {
        return start_job(job_of(*context.prepared.job), dynamic_cast<const P&>(plan), context);
    }

  protected:
    static const J& job_of(const Job& job) { return dynamic_cast<const J&>(job); }

    virtual P plan_job(const J& job, const PlanRequest& request) const = 0;
    virtual std::unique_ptr<EngineRun> start_job(const J& job, const P& plan,
                                                 const RunContext& context) const = 0;
};

/// Every engine of this build: the table in engines.cpp.
std::span<const Engine* const> engines();

/// The rows of the input that a rank reads for the job, as Engine::reads(), where the job takes
/// them in another order too.
std::vector<RowRuns> rows_read(const Job& job, const JobPlan& plan, int rank,
                               const ArrayInfo& input);

/// The one that runs the job.
const Engine& engine_of(const Job& job);

/// The plan of a prepared job.
/// @throws Error (usage) as Engine::plan().
PlanPtr plan_job(const PreparedJob& prepared, Backend backend, int ranks, const RankLimits& limits,
                 const BegunOutput& begun = {});

/// agree_on_stop() where a rank's share is rows of the output, of which it has `to_do`, `before`
/// were done by earlier runs and the output has `total`. Collective.
std::optional<Stopped> agree_on_rows(std::int64_t to_do, std::int64_t before, std::int64_t total,
                                     const RunContext& context);

} // namespace runner
