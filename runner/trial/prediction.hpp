// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/watch/stages.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// What one pass of a job has to do.
struct PassWork {
    double read_bytes = 0;
    double written_bytes = 0;
    double operations = 0; ///< of its computing; 0: the time depends on the bytes alone
};

/// What a pass of a run on a part took.
struct MeasuredPass {
    PassWork work;
    double stream_seconds = 0; ///< from the first read to the last write
    /// The seconds of each stage; 0 if it is not known, as it may be of all but the longest.
    std::array<double, stage_count> busy_seconds = {};
};

/// A run on a part.
struct MeasuredRun {
    double start_seconds = 0;         ///< before the first pass's stream, survey included
    double finish_seconds = 0;        ///< after the last pass's stream
    std::vector<MeasuredPass> passes; ///< one or more
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
    std::vector<PassPrediction> passes;

    double seconds() const;
};

/// Predicts a run of the same steps whose passes have the work `whole`. A stage takes time in
/// proportion to its work, at the rate measured in `large`. The rest (start, end, the time in which
/// the longest stage waits) is as in `large`. It grows with the bytes if it grew from `small`, a
/// run on a smaller part, to `large` by more than the clock's noise. Pure.
Prediction predict(const MeasuredRun& small, const MeasuredRun& large,
                   std::span<const PassWork> whole);

/// The stage that takes longest, of the pass that does: "compute", "write in pass 2".
std::string bound_text(const Prediction& prediction);

/// The parts of the predicted time, for people: a line for each pass, and one for start and end.
std::vector<std::string> prediction_lines(const Prediction& prediction);

} // namespace runner
