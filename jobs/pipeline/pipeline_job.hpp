// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/pipeline/step_chain.hpp"
#include "jobs/stream_job.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// A step of a pipeline, for its input.
struct PipelineStep {
    std::string label;      ///< for messages: `step 2 ("smooth")`
    std::string key;        ///< for names: "smooth", or "step_2" without one
    std::string parameters; ///< lines of TOML: its kind and all values in effect
    ArrayInfo input;
    std::shared_ptr<const Job> job;
};

/// Steps that stream one after the other: each takes the rows that the one before makes, which stay
/// in scratch memory on the device. The output is, to the byte, what the single jobs make through
/// files (docs/pipelines.md).
class PipelineJob : public StreamJob {
  public:
    /// At least one step, all StreamJobs, for which can_follow() holds. `order`: a step before them
    /// that puts whole rows in another order, in which the input's rows are read.
    explicit PipelineJob(std::vector<PipelineStep> steps, std::optional<PipelineStep> order = {});

    /// Why `job` cannot take what `steps` make as they make it: "it must survey its whole input
    /// first"; empty where it can. Any StreamJob may come first.
    static std::string why_not_after(const std::vector<PipelineStep>& steps, const Job& job);

    StreamShape shape() const override { return shape_; }
    std::string computation() const override;
    std::vector<Attribute> attributes() const override;
    std::vector<Likeness> likeness() const override;
    std::optional<RowOrder> row_order() const override;
    std::optional<Locality> mixing() const override;
    std::optional<double> invalid() const override { return steps_.back().job->invalid(); }
    std::vector<std::string> found() const override;
    std::vector<std::string> notes() const override;
    int channels() const override { return steps_.back().job->channels(); }
    std::optional<std::string> parameters() const override;
    std::vector<std::shared_ptr<const SideImage>> side_images() const override;
    std::unique_ptr<Survey> survey() const override { return steps_.front().job->survey(); }
    std::unique_ptr<Job> surveyed(const Findings& findings) const override;

    bool checks_rows() const override { return stream(0).checks_rows(); }
    void check_rows(std::int64_t first, std::int64_t rows, const std::byte* in) const override {
        stream(0).check_rows(first, rows, in);
    }
    std::int64_t scratch_bytes(Backend backend, const RowBlock& block) const override;
    std::int64_t thread_bytes(const RowBlock& block) const override;
    std::int64_t kept_bytes(Backend backend) const override;
    std::int64_t carried_bytes(const RowBlock& block) const override;
    void prepare(Queue& queue, std::byte* kept) const override;
    std::size_t steps() const override { return steps_.size(); }
    std::vector<StepMemory> step_memory(Backend backend, const RowBlock& block) const override;
    std::vector<std::string> counted() const override;
    std::vector<std::int64_t> counts(Queue& queue, const std::byte* kept) const override;
    std::shared_ptr<const StreamJob> counting_part() const override;
    std::vector<JobCount> known_counts() const override;
    double operations(const RowBlock& block) const override { return operations_in(block, {}); }
    double operations_in(const RowBlock& block, const BlockRun& blocks) const override;
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& memory) const override;

  private:
    struct Scratch;

    const StreamJob& stream(std::size_t step) const;
    /// What a step's calls for one block after the other leave.
    std::int64_t carried_by(std::size_t step) const;
    /// Where a step's call stands among those for one block of the pipeline after the other.
    static BlockRun blocks_of(const StepWork& work, const StepCall& call);
    /// What a step's call works with in a block of the pipeline that works with `memory`.
    RunMemory memory_of(const StepWork& work, const StepCall& call, const RowBlock& block,
                        const RunMemory& memory) const;
    /// Read and made by a call of a step.
    std::int64_t call_bytes(std::size_t step, const RowBlock& block) const;

    /// The steps, with the one that puts rows in order before them.
    std::vector<PipelineStep> all_steps() const;

    std::optional<PipelineStep> order_;
    std::vector<PipelineStep> steps_;
    std::vector<StreamShape> shapes_;
    StepChain chain_;
    StreamShape shape_;
    std::size_t counting_steps_ = 0; ///< so many first steps have all that count
};

} // namespace runner
