// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_lock.hpp"
#include "io/output/publish_output.hpp"
#include "io/rows/rows.hpp"

#include <string>

namespace runner {

/// `FILE.partial`: the name of an output until it is complete.
std::string partial_name(const std::string& file);

/// Refuses what this program has not made under the names that a job writes beside its output:
/// FILE.partial, FILE.partial.layout, FILE.partial.shard-… and the folder FILE.journal. They are
/// this program's where a journal stands beside them, where `lock` was left by a process that was
/// killed, or where they are empty. @throws Error (output) for others, and for links.
void check_own_parts(const std::string& file, const FileLock& lock);

/// An output that is made in one go, without a journal: by `generate` and `convert`. Holds its
/// lock; what is made has the partial name until publish(), and is removed if that is not reached.
class PartialOutput {
  public:
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

} // namespace runner
