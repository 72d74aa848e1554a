// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_lock.hpp"
#include "io/output/publish_output.hpp"
#include "io/rows/rows.hpp"

#include <optional>
#include <string>
#include <vector>

namespace runner {

/// `FILE.partial`: the name of an output until it is complete.
std::string partial_name(const std::string& file);

/// The names that files and folders have beside FILE while it is made: FILE.partial, its lock,
/// journal and record, and of slices those in which they wait for their names. Without shards and
/// parts, whose names are many.
std::vector<std::string> names_on_the_way(const std::string& file);

/// Which of FILE's names_on_the_way() `other` has, or is in a folder of; nothing where it does not.
std::optional<std::string> name_on_the_way(const std::string& file, const std::string& other);

/// Bytes of the shards that an earlier run left beside the output.
std::int64_t bytes_of_shards(const std::string& file);

/// Whether a job left what stands beside its output: FILE.partial, FILE.partial.layout,
/// FILE.partial.shard-…, the parts and the folder FILE.journal. It did where the journal holds
/// something, where `lock` says that a process of this user was killed, or where the journal is
/// empty, having been made before the output was, and the lock's text is lost, as in a power cut.
/// @throws Error (output) where FILE.journal is no journal of this user.
bool has_left_parts(const std::string& file, const FileLock& lock);

/// Refuses what this program has not made under these names, but for files that are empty; another
/// user's; and what others may write to though they may not to the lock. What was left without a
/// journal, and so cannot be resumed, is removed: its only proof is the lock. @throws Error
/// (output).
void check_own_parts(const std::string& file, const FileLock& lock);

/// An output that is made in one go, without a journal: by `generate` and `convert`. Holds its
/// lock; what is made has the partial name until publish(), and is removed if that is not reached.
class PartialOutput {
  public:
    /// Completes what a killed process has half published (publish_output.hpp).
    /// @throws LockHeld; Error (output) as check_own_parts(), and where an unfinished job's journal
    /// stands there.
    explicit PartialOutput(const std::string& file);
    PartialOutput(const PartialOutput&) = delete;
    PartialOutput& operator=(const PartialOutput&) = delete;
    ~PartialOutput();

    /// FILE.partial, to be made by the caller.
    const std::string& partial() const { return partial_; }

    /// As publish_output().
    void publish(Overwrite overwrite, RowWriter::Sync sync);

  private:
    std::string file_;
    std::string partial_;
    FileLock lock_;
    bool is_published_ = false;
};

/// Does what a PartialOutput of the finished `file` was killed before it had done: completes its
/// publishing and removes its lock. Nothing where no such lock is there.
void clean_up_beside(const std::string& file);

} // namespace runner
