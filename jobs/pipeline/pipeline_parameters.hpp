// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/axis_work.hpp"
#include "jobs/kind.hpp"
#include "jobs/pipeline/pipeline_job.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace runner {

/// A [[step]] of a job file.
struct StepParameters {
    std::string label; ///< for messages: `step 2 ("smooth")`
    std::string where; ///< its table: "job.toml:12:1"
    std::string name;  ///< unique; "" where the file gives none
    std::string kind;
    std::shared_ptr<const KindParameters> parameters;
    std::optional<ElementType> type; ///< of its output; nothing: the kind's default
    std::size_t number = 1;          ///< among all steps of the job, from 1
    std::string save = {};           ///< the file to store its output in as well; "": none
};

/// A step for its input, for people.
struct StepFacts {
    std::string label;
    ArrayInfo input;
    ArrayInfo output;
    std::int64_t halo = 0;                 ///< rows of its input
    std::shared_ptr<const Job> job = {};   ///< its own
    std::vector<AxisWork> axes = {};       ///< what it does along each axis of its input
    bool is_order = false;                 ///< it is the order in which the pass reads its rows
    std::optional<StepMemory> memory = {}; ///< where a plan says it: with_memory()
};

/// What a step is that puts whole rows in another order, where a pass before it has stored them.
enum class RowOrders {
    are_read,  ///< the order in which the next step's pass reads them
    are_passes ///< a pass of its own
};

/// Steps that one run passes the data through, and why no more.
struct PipelinePass {
    std::size_t first = 0;              ///< step, from 0
    std::vector<StepFacts> steps;       ///< at least one
    std::string end;                    ///< why the next step is not in it; empty of the last pass
    std::optional<int> channels;        ///< of its input, as JobInput's; not of the first pass
    std::optional<double> invalid = {}; ///< of its input, as JobInput's; not of the first pass
    std::string saved = {};             ///< the file that its output is kept in; "": it is not kept
};

/// The steps of a job file. Its job is a PipelineJob.
class PipelineParameters : public KindParameters {
  public:
    /// What the last step would save is the job's output: its `save` is dropped.
    explicit PipelineParameters(std::vector<StepParameters> steps) : steps_(std::move(steps)) {
        steps_.back().save.clear();
    }

    const std::vector<StepParameters>& steps() const { return steps_; }

    std::vector<InputDataset> inputs() const override;
    Elements elements() const override { return steps_.front().parameters->elements(); }
    /// A step that moves elements may be before one that computes with them.
    bool reads_numbers() const override {
        return std::any_of(steps_.begin(), steps_.end(), [](const StepParameters& step) {
            return step.parameters->reads_numbers();
        });
    }
    bool takes_elements_alone() const override {
        return std::all_of(steps_.begin(), steps_.end(), [](const StepParameters& step) {
            return step.parameters->takes_elements_alone();
        });
    }

    /// A step that removes invalid elements is followed by any.
    Invalid invalid() const override;
    /// The first step that takes invalid elements of the input as values; null where there is none,
    /// or a step before fills them all.
    const StepParameters* ignoring_step() const;

    /// The job that makes the last step's output alone: what others save does not end a pass.
    /// @throws Error (usage or input) as the step's kind does, with the step's place; and where
    /// the steps need several passes.
    std::unique_ptr<Job> make(const JobInput& input,
                              std::optional<ElementType> output_type) const override;

    /// [[step]] tables. `comments`: a line for each step, or nothing.
    std::string canonical() const override { return canonical({}); }
    std::string canonical(const std::vector<std::string>& comments) const;

    /// The same with only some of the steps: those of a pass.
    PipelineParameters part(std::size_t first, std::size_t steps) const;

    /// The passes for this input. A step that is saved ends one: the next pass reads its file.
    /// @throws Error as make().
    std::vector<PipelinePass> passes(const JobInput& input, std::optional<ElementType> output_type,
                                     RowOrders orders) const;

  private:
    std::vector<PipelineStep> made(const JobInput& input,
                                   std::optional<ElementType> output_type) const;

    std::vector<StepParameters> steps_;
    bool is_later_ = false; ///< the steps of a pass but the first
    /// The ignoring_step() of all passes; known in the first pass alone.
    std::optional<StepParameters> later_ignoring_;
};

} // namespace runner
