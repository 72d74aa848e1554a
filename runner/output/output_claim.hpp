// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_lock.hpp"
#include "io/files/file_mark.hpp"
#include "io/hdf5/attributes.hpp"
#include "runner/output/begin_output.hpp"
#include "runner/output/what_is_there.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/probe/prober.hpp"

#include <optional>
#include <string>
#include <vector>

namespace runner::output {

/// What a run has to do.
enum class ToDo {
    nothing, ///< the output of this job is complete under its name
    make     ///< the output: nothing is under its name, or what may be replaced
};

/// An output in the hands of one process, from its lock to its name: the lock, the existing files,
/// the journal, the parts and the publishing. By one process of a run, in the order of its calls:
///
///     Claim claim(file, owner, prober);       locked; no name of it is another program's
///     if (claim.settle(prepared, rules) == make) {  or look() and replace()
///         beginning = claim.begin(prepared, …);     the output under way and its journal
///         … all ranks write rows and commit them …
///         claim.complete(prepared, beginning, …);   the output has its name
///         claim.release(prepared);                  nothing else is left beside it
///     }
///
/// What is under way stays where a claim ends before complete(): the next run resumes it. The lock
/// goes last. `prepared` is the same job in each call; its input may be there only from begin() on.
class Claim {
  public:
    /// Takes the output's lock, completes the publishing that a run died in, and refuses what
    /// others have put under the names beside the output. `prober` outlives this. @throws LockHeld;
    /// Error (output, launch).
    Claim(std::string file, const std::string& owner, Prober& prober);

    /// The standing of the file under the output's name. `identity`: job_identity(), unless the
    /// input is missing. Refuses parts that are another program's. @throws Error (output, launch).
    OutputStanding look(const PreparedJob& prepared, const std::string& identity);

    /// settle() but for the disk's room, long before the output is made: what that is made of may
    /// take the room now, and be gone then.
    ToDo inspect(const PreparedJob& prepared, const ClaimRules& rules);

    /// look(), and decides by it and the rules. The output of this job is left as it is unless
    /// rules.resume is "never" or rules.overwrite asks to make it again. Where an earlier run of
    /// this job died between publishing it and removing its journal, that is removed and nothing is
    /// left to do, with rules.overwrite too. @throws Error (output) where something is there that
    /// is not to be replaced, holds what this program did not make, or stands in the way beside it,
    /// and where the disk has no room.
    ToDo settle(const PreparedJob& prepared, const ClaimRules& rules);

    /// After look(): the output is to be made in place of any file. The same errors.
    void replace(const PreparedJob& prepared, const ClaimRules& rules);

    /// begin_output(), for so many ranks with so many cores each.
    Beginning begin(const PreparedJob& prepared, int ranks, int cores);

    /// complete_record(), once every rank has written its last row; then syncs and publishes the
    /// output. @throws Error (output) where somebody has put a file under its name since.
    std::vector<std::string> complete(const PreparedJob& prepared, const Beginning& beginning,
                                      std::vector<Attribute> facts, const Extremes& extremes = {});

    /// Removes what stood beside the finished output while it was being written, and the parts of
    /// the output that it replaced. Before that, it puts the record of an output that is no HDF5
    /// file beside it (beside_record.hpp). Of an output that was there before the claim, it removes
    /// what a run left that died before it had.
    void release(const PreparedJob& prepared);

    /// Removes the finished output of this job with its parts. @throws Error (output) before it has
    /// removed anything, where the folder of the parts holds what this program did not make.
    void remove_output(const PreparedJob& prepared);

    /// Removes what an interrupted run has left, unless that is of another job. Throws for what
    /// cannot be removed.
    void discard_leftovers(const PreparedJob& prepared);

  private:
    void accept(const ClaimRules& rules);

    std::string file_;
    Prober& prober_;
    FileLock lock_;
    ClaimRules rules_;
    std::optional<int> parts_set_; ///< of the output under the name
    FileMark replaces_;            ///< that, when it was accepted
    std::optional<PartLayout> begun_;
};

/// With the lock of the output `file` held: completes the publishing that a run died in
/// (io/output/publish_output.hpp). @throws Error (output) where it was none of this program's;
/// (launch).
void complete_publishing(const std::string& file, const FileLock& lock, Prober& prober);

} // namespace runner::output
