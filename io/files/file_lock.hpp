// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

#include <optional>
#include <string>

namespace runner {

/// That another process holds a lock.
class LockHeld : public Error {
  public:
    using Error::Error;
};

/// Keeps a second program from working on the same output, on this host or on another that shares
/// the file system: the system's lock on a file made for it, which goes when the process does,
/// however it ends. The file says who holds it; one that nobody holds was left by a process that
/// was killed.
class FileLock {
  public:
    /// Makes and locks the file. `owner`: a line for those who find it locked.
    /// @throws LockHeld (output) with the owner's line when another process holds it; Error
    /// (output), also where a link, or a file of other content or of another user, has the name.
    FileLock(std::string path, const std::string& owner);
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    /// Removes the file, unless another one has come under its name, or leave() was called.
    ~FileLock();

    /// Leaves the file when the lock goes, as a process that is killed does: what it made is not
    /// all removed.
    void leave() { is_left_ = true; }

    /// Whether a process of this user that held it was killed, as the file says: what that had made
    /// under other names was left too.
    bool was_left() const { return was_left_; }
    /// Whether a file was there that does not say so: a power cut may have taken its text.
    bool was_cut_off() const { return was_cut_off_; }

    /// Why this program cannot have left what has this name, a file or folder beside the lock:
    /// another user's, or others may write to it though they may not to the lock. Empty where it
    /// can have, and where nothing has the name.
    std::string foreign(const std::string& path) const;

    /// Waits until the file's text is on the disk. @throws Error (output).
    void sync() const;

  private:
    std::string path_;
    int descriptor_ = -1;
    bool was_left_ = false;
    bool was_cut_off_ = false;
    bool is_left_ = false;
};

/// Whether what has this name is a lock of this user that nobody holds: its process was killed.
bool is_lock_left(const std::string& path);

/// The line of the process that holds the lock of this file now; nothing when none does.
std::optional<std::string> lock_owner(const std::string& path);

/// `FILE.lock`.
std::string lock_path(const std::string& file);

/// Who holds a lock, for those who want it: "process 7 on node3, Slurm job 12".
std::string owner_text(const std::string& host);

} // namespace runner
