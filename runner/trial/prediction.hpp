// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/watch/stages.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace runner::trial {

/// What one pass of a job has to do.
struct PassWork {
    double read_bytes = 0; ///< unpacked, also those that no row of the part takes
    double written_bytes = 0;
    double operations = 0; ///< of its computing; 0: the time depends on the bytes alone
};

/// What a pass of a run on a part took.
struct MeasuredPass {
    PassWork work;
    double stream_seconds = 0;                         ///< from the first read to the last write
    std::array<double, stage_count> busy_seconds = {}; ///< of each stage
};

/// A run on a part.
struct MeasuredRun {
    double start_seconds = 0;  ///< before the first pass's stream, without waiting for surveys
    double finish_seconds = 0; ///< between passes, and after the last one's stream
    double survey_seconds = 0; ///< of surveys of inputs, in all passes
    std::vector<MeasuredPass> passes; ///< one or more
    double survey_hidden_seconds = 0; ///< of survey_seconds, beside the start
};

/// What the whole job will take.
struct PassPrediction {
    std::array<double, stage_count> busy_seconds = {};
    Stage bound = Stage::read; ///< the stage that takes longest
    /// In which that stage waits: for the first chunk's read and the last one's write.
    double idle_seconds = 0;
    double seconds() const { return busy_seconds[static_cast<std::size_t>(bound)] + idle_seconds; }
};
struct Prediction {
    double start_seconds = 0;
    double finish_seconds = 0;
    double survey_seconds = 0; ///< of which nothing is beside the start
    std::vector<PassPrediction> passes;

    double seconds() const;
};

/// Predicts a run of the same steps whose passes have the work `whole`. A stage takes time in
/// proportion to its work, at the rate measured in `large`, and so does a survey, of which as much
/// as in `large` is beside the start. The start takes as long as the shorter of both, since nothing
/// in it depends on the bytes. The end and the time in which the longest stage waits are as in
/// `large`. They grow with the bytes if they grew from `small`, a run on a smaller part, to `large`
/// by more than the clock's noise; the end only with the bytes that may wait for the disk, since
/// the others are on their way while the job runs.
/// Pure.
Prediction predict(const MeasuredRun& small, const MeasuredRun& large,
                   std::span<const PassWork> whole);

/// The stage that takes longest, of the pass that does: "compute", "write in pass 2".
std::string bound_text(const Prediction& prediction);

/// The parts of the predicted time, for people: a line for each pass, and one for start and end.
std::vector<std::string> prediction_lines(const Prediction& prediction);

} // namespace runner::trial
