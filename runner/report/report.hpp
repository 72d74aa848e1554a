// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/cost/reading_cost.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/rows/rows.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/plan/job_plan.hpp"
#include "runner/prepare/disk_space.hpp"
#include "runner/prepare/passes.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/ranks/kept_rates.hpp"
#include "runner/watch/phases.hpp"
#include "runner/watch/stages.hpp"
#include "runner/watch/timeline.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace runner {

/// One rank's share of the report.
struct RankReport {
    int rank = 0;
    std::string host;
    std::string device; ///< the GPU's name, or "CPU"
    std::string uuid;   ///< empty for the CPU
    int sharers = 1;    ///< ranks on that GPU
    std::string cores;  ///< "0-7"
    std::int64_t first_row = 0;
    std::int64_t last_row = 0;
    RunTimes times;
    std::int64_t resident_before = 0; ///< bytes, before the plan's memory was taken
    std::int64_t resident_peak = 0;
    std::vector<Bar> bars;           ///< where a timeline is wanted of this rank
    double merged_below_seconds = 0; ///< Timeline::resolution()
    KeptRates rates;                 ///< of a GPU, where a report is wanted

    static auto members(auto& self) {
        return std::tie(self.rank, self.host, self.device, self.uuid, self.sharers, self.cores,
                        self.first_row, self.last_row, self.times, self.resident_before,
                        self.resident_peak, self.bars, self.merged_below_seconds, self.rates);
    }
};

/// Bars to keep of one of so many ranks, 0 for none: a few thousand in all, of 16 ranks at most,
/// evenly spread.
std::size_t timeline_bars(int rank, int ranks);

/// The stage that worked longest over all ranks, its seconds on the rank where it did, and that
/// over this rank's time from first read to last write.
struct Bottleneck {
    Stage stage = Stage::read;
    double busy_seconds = 0;
    double overlap_efficiency = 0;
};
Bottleneck find_bottleneck(const std::vector<RankReport>& ranks);

/// What a step of a pipeline took in one pass.
struct StepReport {
    std::string label;      ///< `step 2 ("smooth")`
    double seconds = 0;     ///< of its computing, on the rank where it took longest
    std::int64_t bytes = 0; ///< read and made, on all ranks
};

/// When one rank worked in a pass, in seconds from that rank's first read in it.
struct RankTimeline {
    int rank = 0;
    double merged_below_seconds = 0; ///< Timeline::resolution()
    std::vector<Bar> bars;
};

/// What one pass of a pipeline did.
struct PassReport {
    std::size_t number = 1;
    std::string file; ///< of its output
    std::string dataset;
    double stream_seconds = 0; ///< from first read to last write, on the slowest rank
    std::int64_t bytes_read = 0;
    std::int64_t bytes_written = 0;
    Bottleneck bottleneck;
    std::vector<StepReport> steps;
    double start_seconds = 0; ///< of its first read, from that of the first pass
    /// The busy and waiting seconds of the rank with the most, and the bytes of all ranks.
    std::array<StageTimes, stage_count> stages = {};
    std::vector<RankTimeline> timelines = {}; ///< of the ranks of which one is kept
};

/// The report of a pass of this job file and plan, whose start is still to be set. If its engine
/// marks no steps, its step has what its computing took.
PassReport pass_report(std::size_t number, const JobFile& job, const JobPlan& plan,
                       const std::vector<RankReport>& ranks);

/// The step that took longest of all passes; null where there is none.
const StepReport* bounding_step(const std::vector<PassReport>& passes);

/// An array of an output that is a folder of files.
struct LevelReport {
    std::vector<std::int64_t> shape;
    std::int64_t files = 0;  ///< of chunks, or shards
    std::int64_t chunks = 0; ///< in them
    std::int64_t bytes = 0;  ///< of the files
    double seconds = 0;      ///< in which all ranks put the files together
};

/// What is known of a finished run, on rank 0.
struct RunReport {
    const JobFile& job;
    const InputOrigin* origin;                ///< of a pass but the first; else null
    const std::vector<std::string>& settings; ///< laid over the job file's text
    const std::vector<std::string>& settled;  ///< PreparedJob's
    const JobPlan& plan;
    const DatasetInfo& input;     ///< of the job, also in a later pass
    std::int64_t input_bytes = 0; ///< of the file
    std::string input_modified;   ///< ISO 8601, UTC
    std::vector<RankReport> ranks;
    std::string started;                 ///< ISO 8601, UTC
    double start_seconds = 0;            ///< before the stream: driver, MPI, binding, borders
    double wall_seconds = 0;             ///< from the program's start to the output under its name
    std::int64_t runs = 1;               ///< that worked on the output, this one counted
    std::int64_t rows_before = 0;        ///< finished by the runs before
    std::vector<JobCount> counts = {};   ///< of all passes so far
    double finish_seconds = 0;           ///< of these, after the last chunk: sync, assembly, rename
    std::string folder;                  ///< the working directory
    std::string launcher;                ///< launcher_name()
    std::vector<std::string> warnings;   ///< as printed on standard error
    std::vector<std::string> notes;      ///< what the run found of an earlier one and in the input
    std::vector<PassReport> passes = {}; ///< of a pipeline, that this run made; this one last
    double seconds_before = 0;           ///< of wall_seconds, that earlier passes took
    std::vector<Phase> phases = {};      ///< of the first rank, until the report was written
    std::vector<LevelReport> levels = {}; ///< of a Zarr store: its arrays, the finest first
    double survey_seconds = 0;            ///< of surveys of inputs, also beside the start
};

/// What bounded a run of these ranks, at least one, and how near to that limit it came: one
/// sentence. `wall_seconds`: as in RunReport.
std::string verdict_text(const std::vector<RankReport>& ranks, double wall_seconds);
/// The same of several passes: which one took longest, and what bounded it.
std::string verdict_text(const std::vector<PassReport>& passes, double wall_seconds);

/// The report as JSON text (docs/report.md).
std::string report_json(const RunReport& report);

/// What a run that is done says last: "OUT.h5: 2 GiB read and written in 3.21 s, …\n".
std::string closing_line(const RunReport& report);

/// The attribute of a finished output that holds job_checksum().
inline constexpr const char* job_checksum_attribute = "job_checksum";

/// Digest of the job as the output records it: its text and the settings.
std::string job_checksum(const std::string& text, const std::string& settings);

/// What the finished output says of itself: attributes on its root.
std::vector<Attribute> provenance(const RunReport& report);

/// The table rank → host → GPU → cores, a line each.
std::string binding_table(const std::vector<RankReport>& ranks);

/// A dataset that a planned job reads or writes.
struct PlannedEnd {
    std::string file;
    std::string dataset;
    ArrayInfo array;
    std::string invalid = {}; ///< which of its elements are no values, for people; "": none
    std::vector<std::vector<std::int64_t>> levels = {}; ///< the shapes of coarser ones
    std::optional<std::int64_t> files = {}; ///< that hold the elements, of a folder; else nothing
    std::int64_t bytes = 0;              ///< of the elements of all levels, where `files` is known
    std::optional<KeptFrames> kept = {}; ///< that it has beside what the job makes
};
struct PlannedEnds {
    PlannedEnd from;
    std::vector<PlannedEnd> to;
};

/// The least time that a job's bytes take between host and GPUs.
struct LinkTime {
    double seconds = 0;
    std::string device;   ///< whose rates these are
    std::string measured; ///< when, ISO 8601, UTC
};

struct PlannedPass {
    PlanPtr plan;
    DiskSpace disk;
    PlannedEnds ends;
    std::vector<StepFacts> steps = {};    ///< of a pipeline
    std::vector<AxisWork> axes = {};      ///< of a job of one kind: StepFacts::axes
    std::string end = {};                 ///< why no more steps are in it
    ReadingCost reading = {};             ///< of its input
    std::vector<std::string> advice = {}; ///< what would make reading cheaper
    std::optional<LinkTime> link = {};    ///< of GPUs whose rates are kept
    std::vector<std::string> found = {};  ///< as Job::found()
};

/// The plan of a job's passes, one or more, as JSON text, as `runner plan` shows it.
std::string plan_json(const std::vector<PlannedPass>& passes);

} // namespace runner
