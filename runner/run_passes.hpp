// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "runner/output/output_claim.hpp"
#include "runner/prepare/passes.hpp"
#include "runner/probe/prober.hpp"
#include "runner/ranks/mpi.hpp"
#include "runner/run_command.hpp"

#include <functional>
#include <vector>

namespace runner {

/// Runs one pass, as run_pass() does.
using RunPass = std::function<ExitCode(const RunCommand& command, const JobPass& pass)>;

/// The same, of a pass whose output `claim` holds; null: the pass claims it itself.
using RunClaimed =
    std::function<ExitCode(const RunCommand& command, const JobPass& pass, output::Claim* claim)>;

/// Passes on to each pass what makes its input, by which its output is known. The input of the
/// first is there. @throws Error (usage, input).
void tell_origins(std::vector<JobPass>& passes, Prober& prober);

/// For each pass but the last: whether it must run, since its output is not there and is to be kept
/// or read; the first rank decides for all. `last_is_done`: the job's output is complete.
/// tell_origins() has been called there, unless the input is yet to be made. Collective.
/// Passes then may replace what this job has stored between them with other parameters or input.
/// @throws AgreedError where another file has the name of an output that is to be kept, or of what
/// a pass stores for the next.
std::vector<bool> earlier_to_run(std::vector<JobPass>& passes, bool last_is_done,
                                 const Ranks& ranks, Prober& prober);

/// Runs the passes before the last that earlier_to_run() names, and removes what lies between them
/// once it is read. Collective; returns and throws as run_job().
ExitCode run_earlier_passes(const RunCommand& command, std::vector<JobPass>& passes,
                            const std::vector<bool>& to_run, const RunPass& run, const Ranks& ranks,
                            Prober& prober);

/// The same for the last pass, whose input is there.
ExitCode run_last_pass(const RunCommand& command, std::vector<JobPass>& passes, const RunPass& run,
                       const Ranks& ranks, Prober& prober);

/// Removes what passes of this job have stored for the next and no step saves, and what is left
/// beside that, where the job is complete. Throws nothing for what cannot be removed.
void remove_intermediates(const std::vector<JobPass>& passes, Prober& prober);

/// With the lock of the job's complete output held: removes what a job with this output stored
/// between passes that this job does not have, such as one of more steps that did not come to its
/// end. Nothing for a pass before the last one. Whatever is not known to be that stays, and so does
/// what is unfinished. Throws nothing for what cannot be removed.
void remove_stale_intermediates(const PreparedJob& prepared, Prober& prober);

/// Runs a job of several passes, each a job of its own that reads what the one before made. That
/// lies beside the output, with a journal of its own, and is removed when the next pass is
/// complete; what a step saves is kept under its own name. A pass whose output is complete does not
/// run again. The job's own output is claimed before the first pass, so that whatever stands in its
/// way is refused before anything is computed. Collective; returns and throws as run_job().
ExitCode run_passes(const RunCommand& command, std::vector<JobPass> passes, const RunClaimed& run,
                    const Ranks& ranks, Prober& prober);

} // namespace runner
