// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/prepare/prepare.hpp"
#include "runner/probe/prober.hpp"

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
    std::string why;         ///< of a stale or foreign one: how it differs
    bool only_input = false; ///< of a stale one: only the input differs
};

/// Reads what the file says of itself, by `prober`. `identity`: job_identity() of the prepared job.
/// An HDF5 output is known by its attribute `identity`, another one by the record beside
/// it (beside_record.hpp), or in its journal where a run died before it had put that in place.
/// @throws Error (launch) where the file cannot be probed.
OutputStanding output_standing(const PreparedJob& prepared, const std::string& identity,
                               Prober& prober);

/// Whether the file holds the identity of some job, as each finished output does.
/// @throws Error (launch) where the file cannot be probed.
bool says_how_it_was_made(const std::string& file, Prober& prober);

/// What an interrupted run has left beside the output.
enum class Parts {
    none, ///< nothing that could be resumed
    fit,  ///< of this job: it can be resumed
    other ///< of another job or input
};

/// @throws Error (output).
Parts parts_beside(const PreparedJob& prepared, const std::string& identity);

} // namespace runner
