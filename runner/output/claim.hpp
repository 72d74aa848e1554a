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

namespace runner {

/// Where a run begins: with nothing, or with rows that runs before it finished.
struct Beginning {
    std::int64_t generation = 1; ///< of the journal
    RowSet done;                 ///< finished rows
    std::vector<RowHash> unread; ///< of these, where only some were compared with their checksums
    /// Of a state that evolves: the checkpoint to resume from; its snapshots up to there are done.
    std::optional<std::uint64_t> checkpoint;
    PartLayout parts;               ///< of the output
    std::string identity;           ///< of the job, as the journal has it
    std::vector<std::string> notes; ///< lines for a person

    static auto members(auto& self) {
        return std::tie(self.generation, self.done, self.unread, self.checkpoint, self.parts,
                        self.identity, self.notes);
    }
};

/// The file by which a rank that is asked to stop tells the others, beside the journal's records.
std::string stop_path(const std::string& file);

/// Refuses, before anything is written, an output that its disk has no room for, or something
/// beside it that stands in the way. @throws Error (output).
void check_output(const PreparedJob& prepared);

/// The attribute of a finished output that holds Beginning::identity.
inline constexpr const char* identity_attribute = "identity";

/// The attribute of a finished output in HDF5 that holds the Digest of its frames' generations.
inline constexpr const char* generations_checksum_attribute = "generation_checksum";

/// With the output's lock held: makes the output and its journal, or finds them and resumes, as
/// run.resume says. Where the run before had committed nothing, whatever its job was, nothing would
/// be lost and the run starts over. @throws Error (output, or input when only the input has
/// changed) with the difference when another job had committed rows.
/// `ranks`, each with so many `cores`: of this run, for which an output in parts is laid out where
/// it is begun.
Beginning claim_output(const PreparedJob& prepared, int ranks, int cores);

/// Takes rows that are not as they were written out of the journal of the run that took them over:
/// the next run computes them. @throws Error (output).
void give_up_rows(const PreparedJob& prepared, const Beginning& beginning,
                  const std::vector<RowHash>& wrong);

/// The checksums of all rows, from the journal. @throws Error (output) unless each row is there.
std::vector<RowHash> finished_rows(const PreparedJob& prepared, const Beginning& beginning);

/// Removes what stood beside the published output while it was being written, and the parts of the
/// output that it replaced. Before that, it puts the record of an output that is no HDF5 file
/// beside it (beside_record.hpp). `parts_set`: of the published output's own parts, if it has any.
void release_output(const PreparedJob& prepared, std::optional<int> parts_set);

} // namespace runner
