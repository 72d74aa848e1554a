// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/prepare/prepare.hpp"
#include "runner/ranks/mpi.hpp"
#include "runner/watch/progress.hpp"
#include "runner/watch/stages.hpp"
#include "runner/watch/stop.hpp"

#include <optional>

namespace runner {

/// How a survey is taken: `threads` compute, `io_threads` read.
struct SurveyPlace {
    int threads;
    int io_threads;
    const Stop& stop;
    RunProgress& progress; ///< moves with each part of the input that is seen, for a watchdog
    ProgressStyle style;   ///< in which this rank shows it on standard error
};

/// The phase of a command in which inputs are surveyed, as reports name it.
inline constexpr const char* survey_phase = "surveying the input";

/// Where the job asks for a survey of its input: takes it, each rank a share, and returns the
/// prepared job that knows what was found; else the same job. Nothing where something asked to stop
/// before all was seen. Collective. @throws AgreedError (input) for values that the job does not
/// take.
std::optional<PreparedJob> survey_input(const PreparedJob& prepared, const Ranks& ranks,
                                        const SurveyPlace& place);

/// The same without other ranks, to the end. @throws Error (input).
PreparedJob survey_input(const PreparedJob& prepared, int threads);

} // namespace runner
