// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_lock.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/probe/prober.hpp"

#include <optional>

namespace runner {

/// The files in OUT.parts that are there before a run: parts of the finished output, which stay
/// until a new one is published, and parts that an interrupted run left.

/// Whether a run makes parts, replaces an output in parts, or finds those of an interrupted run.
bool concerns_parts(const PreparedJob& prepared);

/// Finds which set of parts the output under the final name has, if any, for prepared.parts_set,
/// and refuses parts that are neither of that output nor left by a run of this program: those are
/// this program's where a journal stands beside them, or where `lock` was left by a process that
/// was killed. Does nothing else unless concerns_parts().
/// @throws Error (output) also for links, names that no part has, and where the input is one of the
/// parts.
void settle_parts(PreparedJob& prepared, const FileLock& lock, Prober& prober);

/// Removes the parts that belong to no finished output: all but those of `kept`.
void remove_other_parts(const PreparedJob& prepared, std::optional<int> kept);

/// check_replaceable() of the parts of the output under the final name.
void check_replaceable_parts(const PreparedJob& prepared, Prober& prober);

} // namespace runner
