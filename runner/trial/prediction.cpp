// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/prediction.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>

#include "base/format.hpp"
#include "base/sizes.hpp"
#include "runner/page/report_numbers.hpp"

namespace runner::trial {
namespace {

double bytes(const PassWork& work) { return work.read_bytes + work.written_bytes; }

std::vector<PassWork> works_of(const MeasuredRun& run) {
    std::vector<PassWork> works;
    std::transform(run.passes.begin(), run.passes.end(), std::back_inserter(works),
                   [](const MeasuredPass& pass) { return pass.work; });
    return works;
}

double read_bytes(std::span<const PassWork> works) {
    return std::accumulate(works.begin(), works.end(), 0.0,
                           [](double sum, const PassWork& work) { return sum + work.read_bytes; });
}

double written_bytes(std::span<const PassWork> works) {
    return std::accumulate(works.begin(), works.end(), 0.0, [](double sum, const PassWork& work) {
        return sum + work.written_bytes;
    });
}

/// About what the system keeps of an output in memory before it writes, at the end of a run.
constexpr double most_waiting_bytes = 256.0 * MiB;

double ratio(double whole, double part) { return part > 0 ? whole / part : 0; }

/// The work of a stage in the whole job, relative to the part.
double stage_ratio(Stage stage, const PassWork& whole, const PassWork& part) {
    switch (stage) {
    case Stage::read:
    case Stage::upload: return ratio(whole.read_bytes, part.read_bytes);
    case Stage::compute:
        return part.operations > 0 ? whole.operations / part.operations
                                   : ratio(bytes(whole), bytes(part));
    case Stage::exchange: return ratio(bytes(whole), bytes(part));
    case Stage::download:
    case Stage::hash:
    case Stage::write: return ratio(whole.written_bytes, part.written_bytes);
    }
    return 0;
}

/// The value for `whole` bytes of what took `of_small` and `of_large` seconds.
struct Growth {
    double small = 0; ///< bytes
    double large = 0;
    double whole = 0;

    double of(double of_small, double of_large) const {
        constexpr double least_seconds = 0.02; // below, start-up and clock say more than the bytes
        constexpr double least_share = 0.2;
        const double more = of_large - of_small;
        if (large <= small || more < least_seconds || more < least_share * of_large) {
            return of_large;
        }
        return of_large + more / (large - small) * std::max(0.0, whole - large);
    }
};

double idle_seconds(const MeasuredPass& pass) {
    return std::max(0.0, pass.stream_seconds -
                             *std::max_element(pass.busy_seconds.begin(), pass.busy_seconds.end()));
}

PassPrediction predict_pass(const MeasuredPass& small, const MeasuredPass& large,
                            const PassWork& whole) {
    PassPrediction prediction;
    for (std::size_t i = 0; i < stage_count; ++i) {
        prediction.busy_seconds.at(i) =
            large.busy_seconds.at(i) * stage_ratio(static_cast<Stage>(i), whole, large.work);
    }
    const auto longest =
        std::max_element(prediction.busy_seconds.begin(), prediction.busy_seconds.end());
    prediction.bound = static_cast<Stage>(std::distance(prediction.busy_seconds.begin(), longest));
    const double idle = idle_seconds(large);
    const double measured_busy = large.stream_seconds - idle;
    const Growth growth{bytes(small.work), bytes(large.work), bytes(whole)};
    // The longest stage waits for no larger a share of the time than on the part.
    prediction.idle_seconds = std::min(growth.of(idle_seconds(small), idle),
                                       std::max(idle, idle * ratio(*longest, measured_busy)));
    return prediction;
}

} // namespace

double Prediction::seconds() const {
    double sum = start_seconds + finish_seconds + survey_seconds;
    for (const PassPrediction& pass : passes) {
        sum += pass.seconds();
    }
    return sum;
}

Prediction predict(const MeasuredRun& small, const MeasuredRun& large,
                   std::span<const PassWork> whole) {
    const Growth written{
        written_bytes(works_of(small)), written_bytes(works_of(large)),
        std::min(written_bytes(whole), written_bytes(works_of(large)) + most_waiting_bytes)};
    Prediction prediction;
    prediction.start_seconds = std::min(small.start_seconds, large.start_seconds);
    prediction.finish_seconds = written.of(small.finish_seconds, large.finish_seconds);
    prediction.survey_seconds =
        std::max(0.0, large.survey_seconds * ratio(read_bytes(whole), read_bytes(works_of(large))) -
                          large.survey_hidden_seconds);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        prediction.passes.push_back(predict_pass(small.passes[i], large.passes[i], whole[i]));
    }
    return prediction;
}

std::string bound_text(const Prediction& prediction) {
    const auto longest =
        std::max_element(prediction.passes.begin(), prediction.passes.end(),
                         [](const auto& a, const auto& b) { return a.seconds() < b.seconds(); });
    return std::string(stage_names.at(static_cast<std::size_t>(longest->bound))) +
           (prediction.passes.size() > 1
                ? fmt::format(" in pass {}", longest - prediction.passes.begin() + 1)
                : "");
}

std::vector<std::string> prediction_lines(const Prediction& prediction) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < prediction.passes.size(); ++i) {
        const PassPrediction& pass = prediction.passes[i];
        std::string line = prediction.passes.size() > 1 ? fmt::format("pass {}: ", i + 1) : "";
        for (std::size_t stage = 0; stage < stage_count; ++stage) {
            if (pass.busy_seconds.at(stage) > 0) {
                line += fmt::format("{} {}, ", stage_names.at(stage),
                                    short_time_text(pass.busy_seconds.at(stage)));
            }
        }
        lines.push_back(line + "at the same time; " +
                        std::string(stage_names.at(static_cast<std::size_t>(pass.bound))) +
                        " takes longest and waits " + short_time_text(pass.idle_seconds));
    }
    lines.push_back(
        "start " + short_time_text(prediction.start_seconds) + ", " +
        (prediction.survey_seconds > 0
             ? "survey of the input " + short_time_text(prediction.survey_seconds) + ", "
             : "") +
        (prediction.passes.size() > 1 ? "between passes and at the end " : "end ") +
        short_time_text(prediction.finish_seconds));
    return lines;
}

} // namespace runner::trial
