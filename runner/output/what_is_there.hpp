// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_lock.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/probe/prober.hpp"

#include <optional>
#include <string>

namespace runner::output {

/// What is under the name of a job's output.
enum class Standing {
    nothing,
    done,    ///< the output of this job
    stale,   ///< one of this program's outputs, of another job or input
    foreign, ///< anything else
};

struct OutputStanding {
    Standing standing = Standing::nothing;
    std::string why;          ///< of a stale or foreign one: how it differs
    bool only_input = false;  ///< of a stale one: only the input differs
    bool lacks_parts = false; ///< of a foreign one: it is this job's, but for parts that it has not
};

/// Reads what the file says of itself, by `prober`. `identity`: job_identity() of the prepared job.
/// An HDF5 output is known by its attribute `identity`, another one by the record beside
/// it (beside_record.hpp), or in its journal where a run died before it had put that in place.
/// @throws Error (launch) where the file cannot be probed.
OutputStanding standing_of(const PreparedJob& prepared, const std::string& identity,
                           Prober& prober);

/// Whether the file holds the identity of some job, as each finished output does.
/// @throws Error (launch) where the file cannot be probed.
bool says_how_it_was_made(const std::string& file, Prober& prober);

/// What an interrupted run has left beside the output.
enum class Leftovers {
    none, ///< nothing that could be resumed
    fit,  ///< of the job with this identity: it can be resumed
    other ///< of another job or input
};

/// @throws Error (output).
Leftovers leftovers_beside(const std::string& output, const std::string& identity);

/// The files in OUT.parts that are there before a run: parts of the finished output, which stay
/// until a new one is published, and parts that an interrupted run left.

/// Whether a run makes parts, replaces an output in parts, or finds those of an interrupted run.
/// `parts_set`: of the output under the final name.
bool concerns_parts(const PreparedJob& prepared, std::optional<int> parts_set);

/// Which set of parts the output under the final name has, if any. Refuses parts that are neither
/// of that output nor left by a run of this program: those are this program's where a journal
/// stands beside them, or where `lock` was left by a process that was killed. Refuses nothing
/// unless concerns_parts(). @throws Error (output) also for links, names that no part has, and
/// where the input is one of the parts.
std::optional<int> parts_there(const PreparedJob& prepared, const FileLock& lock, Prober& prober);

/// Removes the parts that belong to no finished output: all but those of set `kept`.
void remove_other_parts(const std::string& output, std::optional<int> kept);

} // namespace runner::output
