// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/batch_events.hpp"
#include "runner/prepare.hpp"
#include "runner/prober.hpp"

#include <string>

namespace runner {

/// What is under the name of a job's output.
enum class Standing {
    nothing,
    done,    ///< the output of this job
    stale,   ///< one of this program's outputs, of another job or input
    foreign, ///< anything else
};

struct OutputStanding {
    Standing standing = Standing::nothing;
    std::string why; ///< of a stale or foreign one: how it differs
};

/// Looks at the file, through `prober` first; `identity`: job_identity() of the prepared job.
/// `done`: when a batch completed the dataset last, or nullptr; a .sand file, which says nothing of
/// itself, is known by it, or by the journal where the batch died before it had written that down.
OutputStanding output_standing(const PreparedJob& prepared, const std::string& identity,
                               const DatasetEvent* done, Prober& prober);

/// What an interrupted run has left beside the output.
enum class Parts {
    none, ///< nothing that could be gone on with
    fit,  ///< of this job: it can be gone on with
    other ///< of another job or input
};

/// @throws Error (output).
Parts parts_beside(const PreparedJob& prepared, const std::string& identity);

} // namespace runner
