// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/prepare/prepare.hpp"
#include "runner/ranks/mpi.hpp"
#include "runner/watch/progress.hpp"
#include "runner/watch/stages.hpp"
#include "runner/watch/stop.hpp"

namespace runner {

/// Where the job asks for a survey of its input: takes it, each rank a part, and puts the job that
/// knows what was found in the place of the one that did not. `threads` compute, `io_threads` read.
/// `progress` moves with each part of it that is seen, for a watchdog; in `style` this rank shows
/// it on standard error. Returns whether all was seen: something may ask to stop. Collective.
/// @throws AgreedError (input) for values that the job does not take.
bool survey_input(PreparedJob& prepared, const Ranks& ranks, int threads, int io_threads,
                  const Stop& stop, RunProgress& progress, ProgressStyle style);

/// The same without other ranks, to the end. @throws Error (input).
void survey_input(PreparedJob& prepared, int threads);

} // namespace runner
