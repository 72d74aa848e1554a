// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/row_hashes.hpp"
#include "io/rows.hpp"
#include "runner/prepare.hpp"
#include "runner/row_set.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// Where a run begins: with nothing, or with rows that runs before it finished.
struct Beginning {
    std::int64_t generation = 1; ///< of the journal
    RowSet done;                 ///< finished rows
    /// Of a state that evolves: the checkpoint to go on from; its snapshots up to there are done.
    std::optional<std::uint64_t> checkpoint;
    std::string identity;           ///< of the job, as the journal has it
    std::vector<std::string> notes; ///< lines for a person
};

/// The file by which a rank that is asked to stop tells the others, beside the journal's records.
std::string stop_path(const std::string& file);

/// To and from text, for the way from rank 0. `identity` and `notes` stay behind.
std::string to_text(const Beginning& beginning);
Beginning beginning_from_text(const std::string& text);

/// Refuses, before anything is written, an output that is there or that its disk has no room for.
/// @throws Error (output).
void check_output(const PreparedJob& prepared);

/// The attribute of a finished output that holds Beginning::identity.
inline constexpr const char* identity_attribute = "identity";

/// Whether an earlier run gave the output its name and died before it had cleaned up: the output is
/// of this job, beside it is what is left of a journal, and nothing is in progress. Nothing is to
/// do then but release_output().
bool is_complete(const PreparedJob& prepared);

/// With the output's lock held: makes the output and its journal, or finds them and goes on, as
/// run.resume says. @throws Error (output, or input when only the input has changed) with the
/// difference when they are of another job.
Beginning claim_output(const PreparedJob& prepared);

/// The checksums of all rows, from the journal. @throws Error (output) unless each row is there.
std::vector<RowHash> finished_rows(const PreparedJob& prepared, const Beginning& beginning);

/// Removes what stood beside the output while it was being written.
void release_output(const PreparedJob& prepared);

} // namespace runner
