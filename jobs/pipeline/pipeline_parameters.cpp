// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/pipeline/pipeline_parameters.hpp"

#include "base/error.hpp"
#include "jobs/permute_job.hpp"
#include "jobs/toml_text.hpp"

#include <utility>

namespace runner {
namespace {

/// The channels that a file with a step's output would say, as the next step's input.
std::optional<int> channels_of(const Job& job) {
    const ArrayInfo array = job.output();
    const int channels = job.channels();
    const bool has_mark =
        array.shape.size() >= 3 && (channels == 1 || array.shape.back() == channels);
    return has_mark ? std::optional(channels) : std::nullopt;
}

/// `before`: the step that makes its input; null: it is the job's.
Error at_step(const Error& error, const StepParameters& step, const StepParameters* before) {
    ErrorText text = error.text();
    if (before != nullptr && text.where == "input.dataset") {
        text.where = "what " + before->label + " makes";
    }
    text.where = step.where + ", " + step.label + (text.where.empty() ? "" : ", " + text.where);
    return {error.code(), std::move(text)};
}

/// The lines without those that are comments.
std::string parameters_text(const StepParameters& step, const ArrayInfo& input, const Job& job) {
    return "kind = " + toml_text(step.kind) + "\n" +
           (step.type ? "dtype = " + toml_text(name_of(*step.type)) + "\n" : "") +
           job.parameters().value_or(step.parameters->canonical_for(input));
}

std::string key_of(const StepParameters& step) {
    return step.name.empty() ? "step_" + std::to_string(step.number) : step.name;
}

/// Whether a step that is saved ends its pass.
enum class Saves { end_passes, are_ignored };

/// Whether the step puts whole rows in another order for a next one that streams them.
bool is_order_for_next(const std::vector<PipelineStep>& steps, std::size_t i) {
    const auto* job = dynamic_cast<const PermuteJob*>(steps[i].job.get());
    return job != nullptr && job->shape().order_of_rows() && i + 1 < steps.size() &&
           PipelineJob::why_not_after({}, *steps[i + 1].job).empty() &&
           !steps[i + 1].job->row_order();
}

/// How steps are cut into passes.
struct Cut {
    Saves saves;
    RowOrders orders;
    std::size_t first_order; ///< a step that may be the order in which rows are read
};

/// The pass that each step is in by what the steps before it make.
std::vector<PipelinePass> cut_into_passes(const std::vector<PipelineStep>& steps,
                                          const std::vector<StepParameters>& parameters, Cut cut) {
    std::vector<PipelinePass> passes;
    std::vector<PipelineStep> pass;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Job& job = *steps[i].job;
        const bool before_streams =
            pass.empty() || PipelineJob::why_not_after({}, *pass[0].job).empty();
        std::string why = before_streams ? PipelineJob::why_not_after(pass, job)
                                         : parameters[i - 1].label + " does not stream rows";
        const bool is_saved =
            i > 0 && cut.saves == Saves::end_passes && !parameters[i - 1].save.empty();
        const bool is_order = cut.orders == RowOrders::are_read && i >= cut.first_order &&
                              is_order_for_next(steps, i) &&
                              (cut.saves == Saves::are_ignored || parameters[i].save.empty());
        if (is_order && before_streams) {
            why = "it puts whole rows in another order, in which the next pass reads them";
        }
        if (is_saved && why.empty()) {
            why = parameters[i - 1].label + " is saved, and this step reads that file";
        }
        if (passes.empty() || !why.empty()) {
            if (!passes.empty()) {
                passes.back().end = before_streams ? parameters[i].label + ": " + why : why;
                passes.back().saved = is_saved ? parameters[i - 1].save : "";
            }
            passes.push_back({i, {}, "", {}, {}, {}});
            if (i > 0) {
                passes.back().channels = channels_of(*steps[i - 1].job);
                passes.back().invalid = steps[i - 1].job->invalid();
            }
            pass.clear();
        }
        if (!is_order) { // the next one is the first that computes
            pass.push_back(steps[i]);
        }
        const auto* stream = dynamic_cast<const StreamJob*>(&job);
        passes.back().steps.push_back({steps[i].label,
                                       steps[i].input,
                                       job.output(),
                                       stream == nullptr ? 0 : stream->shape().halo,
                                       steps[i].job,
                                       {},
                                       is_order});
    }
    return passes;
}

} // namespace

std::vector<InputDataset> PipelineParameters::inputs() const {
    std::vector<InputDataset> all;
    for (const StepParameters& step : steps_) {
        for (InputDataset& input : step.parameters->inputs()) {
            all.push_back(std::move(input));
        }
    }
    return all;
}

KindParameters::Invalid PipelineParameters::invalid() const {
    // What a later step ignores, those before it heed.
    return steps_.front().parameters->invalid() == Invalid::ignores ? Invalid::ignores
                                                                    : Invalid::heeds;
}

const StepParameters* PipelineParameters::ignoring_step() const {
    if (later_ignoring_) {
        return &*later_ignoring_;
    }
    for (const StepParameters& step : steps_) {
        const Invalid own = step.parameters->invalid();
        if (own == Invalid::ignores || own == Invalid::removes) {
            return own == Invalid::ignores ? &step : nullptr;
        }
    }
    return nullptr;
}

std::vector<PipelineStep> PipelineParameters::made(const JobInput& input,
                                                   std::optional<ElementType> output_type) const {
    std::vector<PipelineStep> made;
    JobInput next = input;
    // Elements that a step makes invalid, or a fill leaves so, are not the file's alone.
    bool are_of_file = input.invalid && input.invalid_rule.is_of_file;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const StepParameters& step = steps_[i];
        const bool last = i + 1 == steps_.size();
        try {
            if (!is_number(next.array.type) &&
                step.parameters->elements() == KindParameters::Elements::numbers) {
                throw Error(ExitCode::input,
                            {step.kind + " does not take these elements", "",
                             "they are " + type_text(next.array) + ", not real numbers", ""});
            }
            are_of_file = are_of_file && step.parameters->invalid() != Invalid::requires_some;
            if (are_of_file && step.parameters->invalid() == Invalid::ignores) {
                next.invalid.reset(); // it takes them as values, and a warning says so
            }
            if (next.invalid && step.parameters->invalid() == Invalid::ignores) {
                throw Error(ExitCode::usage,
                            {step.kind + " does not take invalid elements", "",
                             "what it reads has some, which it would take as values",
                             "Put a step of kind fill before it, with rest = a number, or write "
                             "input.invalid = \"none\""});
            }
            std::shared_ptr<const Job> job =
                step.parameters->make(next, last && !step.type ? output_type : step.type);
            made.push_back({step.label, key_of(step), parameters_text(step, next.array, *job),
                            next.array, job});
            if (!job->fields().empty() && !last) {
                throw Error(ExitCode::usage,
                            {"a step must make one dataset for the next", "",
                             step.kind + " makes several", "Make it the last step"});
            }
            next.is_of_step = true;
            next.array = job->output();
            next.channels = channels_of(*job);
            next.invalid = job->invalid();
            next.setup = setup_after(*job, std::move(next.setup));
            next.source_axes = source_axes_after(*job, std::move(next.source_axes));
            next.axes = axes_after(*job, std::move(next.axes));
        } catch (const Error& error) {
            throw at_step(error, step, i == 0 ? nullptr : &steps_[i - 1]);
        }
    }
    return made;
}

std::vector<PipelinePass> PipelineParameters::passes(const JobInput& input,
                                                     std::optional<ElementType> output_type,
                                                     RowOrders orders) const {
    return cut_into_passes(made(input, output_type), steps_, {Saves::end_passes, orders, 1});
}

std::unique_ptr<Job> PipelineParameters::make(const JobInput& input,
                                              std::optional<ElementType> output_type) const {
    std::vector<PipelineStep> steps = made(input, output_type);
    const std::vector<PipelinePass> all = cut_into_passes(
        steps, steps_,
        {Saves::are_ignored, is_later_ ? RowOrders::are_read : RowOrders::are_passes, 0});
    if (all.size() > 1) {
        throw Error(ExitCode::usage,
                    {"the steps need more than one pass over the data", steps_[all[1].first].where,
                     all.front().end,
                     "Run the steps before it as a job of their own, and this one on its output"});
    }
    if (all.front().steps.front().is_order) {
        PipelineStep order = std::move(steps.front());
        steps.erase(steps.begin());
        return std::make_unique<PipelineJob>(std::move(steps), std::move(order));
    }
    if (!PipelineJob::why_not_after({}, *steps.front().job).empty()) {
        return steps_.front().parameters->make(input, steps_.front().type ? steps_.front().type
                                                                          : output_type);
    }
    return std::make_unique<PipelineJob>(std::move(steps));
}

PipelineParameters PipelineParameters::part(std::size_t first, std::size_t steps) const {
    const auto begin = steps_.begin() + static_cast<std::ptrdiff_t>(first);
    PipelineParameters part({begin, begin + static_cast<std::ptrdiff_t>(steps)});
    part.is_later_ = first > 0;
    if (const StepParameters* const step = first == 0 ? ignoring_step() : nullptr) {
        part.later_ignoring_ = *step;
    }
    return part;
}

std::string PipelineParameters::canonical(const std::vector<std::string>& comments) const {
    std::string text;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const StepParameters& step = steps_[i];
        text += (i == 0 ? "" : "\n") + std::string("[[step]]\n") +
                (comments.empty() ? "" : "# " + comments[i] + "\n") +
                "kind = " + toml_text(step.kind) + "\n" +
                (step.name.empty() ? "" : "name = " + toml_text(step.name) + "\n") +
                (step.type ? "dtype = " + toml_text(name_of(*step.type)) + "\n"
                           : "# dtype: the kind's default for the step's input\n") +
                (step.save.empty() ? "" : "save = " + toml_text(step.save) + "\n") +
                step.parameters->canonical();
    }
    return text;
}

} // namespace runner
