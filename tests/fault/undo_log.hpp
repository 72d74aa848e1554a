// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <sys/types.h>

namespace fault {

/// Writes down, before files change, what it takes to undo the change, so that a test can make of a
/// killed run's files what a power cut would have left: whatever no successful sync has covered may
/// be as it was before, in any mixture (end_to_end/power_loss.py).
///
///   FAULT_UNDO=FOLDER      where to write: absolute, on the same file system as the files
///   FAULT_UNDO_OF=FOLDER   the files in it are followed; absolute, not above FAULT_UNDO
///
/// PID.log has lines, PID.data the old bytes; times are of the monotonic clock, in ns:
///
///   W ID TIME INODE OFFSET BYTES OLD_SIZE DATA_OFFSET DATA_BYTES   a write or truncation begins
///   E ID TIME                                                      it has ended
///   S TIME INODE RESULT                          a sync of a file or folder that began then
///   D TIME FOLDER_INODE INODE WHAT PATH TO REPLACED
///                                                create, mkdir, unlink, rmdir, rename, link done
///
/// TO is empty but of renames and links, and REPLACED the inode that had that name, else 0.
///
/// Files that lose their last name stay in FOLDER as INODE.
class UndoLog {
  public:
    /// The log of this process; off where FAULT_UNDO is not set.
    static UndoLog& of_process();

    bool follows(std::string_view path) const;
    bool follows(int descriptor) const;

    /// @return the ID, 0 where the file is not followed. `offset` -1 is the descriptor's own place.
    std::int64_t write_begins(int descriptor, off_t offset, std::size_t bytes);
    void write_ends(std::int64_t id);

    /// All of the file from `length` on is about to go.
    std::int64_t cut_begins(const char* path, off_t length);

    std::int64_t now() const;
    void synced(int descriptor, std::int64_t began, int result);

    /// Keeps what a name stands for, since the name is about to go.
    void keep(const char* path);

    /// `path` and `to` are absolute; `inode` 0 means that of the path now. `replaced` is the inode
    /// that `to` named before, 0 for none.
    void changed(std::string_view what, const char* path, const char* to, std::int64_t inode,
                 std::int64_t replaced);

  private:
    UndoLog();
    std::int64_t saved(int descriptor, off_t offset, std::size_t bytes);
    void line(const char* format, ...) __attribute__((format(printf, 2, 3)));

    const char* folder_ = nullptr;
    std::string_view of_;
    int lines_ = -1;
    int data_ = -1;
};

} // namespace fault
