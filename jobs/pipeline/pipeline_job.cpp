// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/pipeline/pipeline_job.hpp"

#include "base/error.hpp"
#include "jobs/counted_rows.hpp"
#include "jobs/permute_job.hpp"

#include <algorithm>
#include <span>
#include <sstream>
#include <utility>

namespace runner {
namespace {

std::vector<StreamShape> shapes_of(const std::vector<PipelineStep>& steps) {
    std::vector<StreamShape> shapes;
    shapes.reserve(steps.size());
    for (const PipelineStep& step : steps) {
        shapes.push_back(dynamic_cast<const StreamJob&>(*step.job).shape());
    }
    return shapes;
}

/// `rows` of a step's input as rows of the first step's.
std::int64_t in_first_rows(std::int64_t rows, const StreamShape& step, const StreamShape& first) {
    const double share = static_cast<double>(first.frames * first.rows) /
                         static_cast<double>(step.frames * step.rows);
    return static_cast<std::int64_t>(static_cast<double>(rows) * share);
}

/// The chunk rows that the step wants which wants most.
void want_rows(std::span<const StreamShape> steps, StreamShape& shape) {
    for (const StreamShape& step : steps) {
        const std::int64_t wanted = in_first_rows(step.wanted_rows, step, steps.front());
        if (wanted > shape.wanted_rows) {
            shape.wanted_rows = wanted;
            shape.enough_rows = in_first_rows(step.enough_rows, step, steps.front());
            shape.rows_between =
                std::max<std::int64_t>(1, in_first_rows(step.rows_between, step, steps.front()));
        }
    }
}

StreamShape joined_shape(const StepChain& chain, std::span<const StreamShape> steps) {
    StreamShape shape;
    shape.output = steps.back().output;
    shape.frames = chain.frames();
    shape.rows = chain.rows();
    shape.in_row_bytes = steps.front().in_row_bytes;
    shape.out_row_bytes = steps.back().out_row_bytes;
    shape.halo = chain.halo();
    shape.border = chain.border();
    shape.made = chain.made();
    shape.fields = steps.back().fields;
    want_rows(steps, shape);
    return shape;
}

} // namespace

PipelineJob::PipelineJob(std::vector<PipelineStep> steps, std::optional<PipelineStep> order)
    : order_(std::move(order)), steps_(std::move(steps)), shapes_(shapes_of(steps_)),
      chain_(shapes_), shape_(joined_shape(chain_, shapes_)) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        counting_steps_ = stream(i).counted().empty() ? counting_steps_ : i + 1;
    }
}

std::string PipelineJob::why_not_after(const std::vector<PipelineStep>& steps, const Job& job) {
    const auto* stream = dynamic_cast<const StreamJob*>(&job);
    if (stream == nullptr) {
        return "it does not stream rows";
    }
    if (steps.empty()) {
        return "";
    }
    if (job.row_order()) {
        return "it takes the rows of its input in another order";
    }
    if (job.survey()) {
        return "it must survey its whole input first";
    }
    if (stream->checks_rows()) {
        return "it must check its input, which is done on the host";
    }
    std::vector<StreamShape> shapes = shapes_of(steps);
    shapes.push_back(stream->shape());
    return StepChain::is_chain(shapes) ? "" : "its rows come in other layers than those before it";
}

std::optional<RowOrder> PipelineJob::row_order() const {
    if (!order_) {
        return steps_.front().job->row_order();
    }
    const auto* job = dynamic_cast<const PermuteJob*>(order_->job.get());
    return job == nullptr ? std::nullopt : job->shape().order_of_rows();
}

std::vector<PipelineStep> PipelineJob::all_steps() const {
    std::vector<PipelineStep> all = steps_;
    if (order_) {
        all.insert(all.begin(), *order_);
    }
    return all;
}

const StreamJob& PipelineJob::stream(std::size_t step) const {
    return dynamic_cast<const StreamJob&>(*steps_[step].job);
}

std::string PipelineJob::computation() const {
    std::string text = "pipeline 1";
    for (const PipelineStep& step : all_steps()) {
        text += "; " + step.job->computation();
    }
    return text;
}

std::vector<Attribute> PipelineJob::attributes() const {
    std::vector<Attribute> all;
    for (const PipelineStep& step : all_steps()) {
        for (const auto& [name, value] : step.job->attributes()) {
            all.emplace_back(step.key + "." + name, value);
        }
    }
    return all;
}

std::vector<Likeness> PipelineJob::likeness() const {
    std::vector<Likeness> all;
    for (const PipelineStep& step : all_steps()) {
        const std::vector<Likeness> of_step = step.job->likeness();
        if (of_step.empty()) {
            return {};
        }
        all.insert(all.end(), of_step.begin(), of_step.end());
    }
    return all;
}

std::optional<Locality> PipelineJob::mixing() const {
    Locality all;
    for (const PipelineStep& step : steps_) {
        const std::optional<Locality> next = step.job->mixing();
        if (!next) {
            return std::nullopt;
        }
        all = all.then(*next);
    }
    return all;
}

std::vector<std::string> PipelineJob::found() const {
    std::vector<std::string> all;
    for (const PipelineStep& step : steps_) {
        for (const std::string& found : step.job->found()) {
            all.push_back(step.label + ": " + found);
        }
    }
    return all;
}

std::vector<std::string> PipelineJob::notes() const {
    std::vector<std::string> all;
    for (const PipelineStep& step : all_steps()) {
        for (const std::string& note : step.job->notes()) {
            all.push_back(step.label + ": " + note);
        }
    }
    return all;
}

std::optional<std::string> PipelineJob::parameters() const {
    std::string text;
    const std::vector<PipelineStep> steps = all_steps();
    for (std::size_t i = 0; i < steps.size(); ++i) {
        std::istringstream lines(steps[i].parameters);
        for (std::string each; std::getline(lines, each);) {
            text += "step_" + std::to_string(i + 1) + "." + each + "\n"; // a name changes no byte
        }
    }
    return text;
}

std::vector<std::shared_ptr<const SideImage>> PipelineJob::side_images() const {
    std::vector<std::shared_ptr<const SideImage>> all;
    for (const PipelineStep& step : steps_) {
        const std::vector<std::shared_ptr<const SideImage>> images = step.job->side_images();
        all.insert(all.end(), images.begin(), images.end());
    }
    return all;
}

std::unique_ptr<Job> PipelineJob::surveyed(const Findings& findings) const {
    std::vector<PipelineStep> steps = steps_;
    steps.front().job = steps.front().job->surveyed(findings);
    return std::make_unique<PipelineJob>(std::move(steps), order_);
}

std::vector<std::string> PipelineJob::counted() const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        for (const std::string& name : stream(i).counted()) {
            all.push_back(steps_[i].key + "." + name);
        }
    }
    return all;
}

std::shared_ptr<const StreamJob> PipelineJob::counting_part() const {
    // The longest one that takes little.
    for (std::size_t count = counting_steps_; count > 0; --count) {
        if (stream(count - 1).counted().empty()) {
            continue;
        }
        const auto end = steps_.begin() + static_cast<std::ptrdiff_t>(count);
        auto part =
            std::make_shared<PipelineJob>(std::vector<PipelineStep>(steps_.begin(), end), order_);
        if (counts_soon(*part)) {
            return part;
        }
    }
    return nullptr;
}

std::vector<JobCount> PipelineJob::known_counts() const {
    std::vector<JobCount> all;
    for (const PipelineStep& step : steps_) {
        for (const auto& [name, value] : step.job->known_counts()) {
            all.push_back({step.key + "." + name, value});
        }
    }
    return all;
}

} // namespace runner
