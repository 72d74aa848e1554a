// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/writers/row_hashes.hpp"
#include "runner/plan/row_set.hpp"
#include "runner/prepare/prepare.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace runner::output {

/// How a run treats what it finds of its output.
struct ClaimRules {
    bool overwrite = false; ///< a finished output, or another program's file that may be replaced
    ResumeChoice resume = ResumeChoice::automatic; ///< an interrupted run's
    /// The run is so short that one that died is restarted and not resumed: it syncs nothing.
    bool is_brief = false;
};

/// As the job file sets them.
ClaimRules rules_of(const JobFile& job);

/// Where a run begins: with nothing, or with rows that runs before it finished.
struct Beginning {
    std::int64_t attempt = 1;    ///< of the journal
    RowSet done;                 ///< finished rows
    std::vector<RowHash> unread; ///< of these, where only some were compared with their checksums
    /// The checkpoint of a state that evolves, to resume from; its snapshots up to there are done.
    std::optional<std::uint64_t> checkpoint;
    PartLayout parts;               ///< the files that the output is kept in
    std::string identity;           ///< of the job, as the journal has it
    std::vector<std::string> notes; ///< lines for a person
    /// Whether finished rows are synced before the journal lists them, so that a run can be resumed
    /// after a power cut.
    RowWriter::Sync sync = RowWriter::Sync::yes;

    static auto members(auto& self) {
        return std::tie(self.attempt, self.done, self.unread, self.checkpoint, self.parts,
                        self.identity, self.notes, self.sync);
    }
};

/// What an output is begun with.
struct BeginRequest {
    ClaimRules rules;
    /// Which names the parts have of the output that is replaced, where it is one in parts: the new
    /// one's have the others.
    std::optional<int> parts_set;
    int ranks = 1; ///< of this run, each with so many cores, for which a new output is laid out
    int cores = 1;
};

/// The file by which a rank that is asked to stop tells the others, beside the journal's records.
std::string stop_path(const std::string& file);

/// With the output's lock held: makes the output and its journal, or finds them and resumes, as
/// the rules say. Where the run before had committed nothing, whatever its job was, nothing would
/// be lost and the run starts over. @throws Error (output, or input when only the input has
/// changed) with the difference when another job had committed rows.
Beginning begin_output(const PreparedJob& prepared, const BeginRequest& request);

/// Takes rows that are not as they were written out of the journal of the run that took them over:
/// the next run computes them. @throws Error (output).
void give_up_rows(const PreparedJob& prepared, const Beginning& beginning,
                  const std::vector<RowHash>& wrong);

/// The checksums of all rows, from the journal. @throws Error (output) unless each row is there.
std::vector<RowHash> finished_rows(const PreparedJob& prepared, const Beginning& beginning);

} // namespace runner::output
