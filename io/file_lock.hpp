// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace runner {

/// Keeps a second program from working on the same output, on this host or on another that shares
/// the file system: the system's lock on a file made for it, which goes when the process does,
/// however it ends. The file says who holds it; one that nobody holds means nothing.
class FileLock {
  public:
    /// Makes and locks the file. `owner`: a line for those who find it locked.
    /// @throws Error (output) with the owner's line when another process holds it.
    FileLock(std::string path, const std::string& owner);
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    /// Removes the file.
    ~FileLock();

  private:
    std::string path_;
    int descriptor_ = -1;
};

/// `FILE.lock`.
std::string lock_path(const std::string& file);

} // namespace runner
