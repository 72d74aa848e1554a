// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace runner {

/// An open file read and written at positions, from any number of threads at once. Every failure is
/// an Error that names the file, the byte and the system's reason; interrupted and short calls go
/// on. What is written is opened by open_own_file() (io/files/own_file.hpp), which refuses links.
class File {
  public:
    enum class Mode {
        read,   ///< a regular file; failures are input's, also where it is a FIFO, a device …
        update, ///< an existing file, read and written; failures are output's
        create, ///< a new file (make_own_file()), read and written; failures are output's
    };

    File(std::string path, Mode mode);
    File(File&& other) noexcept;
    File& operator=(File&& other) noexcept;
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File();

    const std::string& path() const noexcept { return path_; }

    std::int64_t size() const;

    /// Takes the disk space of these bytes now, so that writing them is faster and cannot fail for
    /// want of it. Where the file system cannot do that, nothing happens.
    void reserve(std::int64_t offset, std::int64_t bytes) const;

    /// Cuts the file, or makes it longer by zeros.
    void resize(std::int64_t bytes) const;

    /// Whether the file is on a file system of this machine, where Linux lets one write at a time
    /// into a file, so that several threads only stand in line.
    bool one_writer_at_a_time() const;

    /// Fills `to` from byte `offset` on. A file that ends before is truncated: an error.
    void read(std::int64_t offset, std::int64_t bytes, std::byte* to) const;
    /// The same of `rows` rows of `row` bytes, which lie `pitch` bytes apart in memory.
    void read_rows(std::int64_t offset, std::int64_t rows, std::int64_t row, std::byte* to,
                   std::int64_t pitch) const;
    void write(std::int64_t offset, std::int64_t bytes, const std::byte* from) const;

    /// Begins to bring what was written to the disk, so that sync() has less to wait for. May wait
    /// while the disk's queue is full. What fails is reported by sync().
    void start_sync() const noexcept;

    /// Waits until what was written is on the disk.
    void sync() const;

    /// Closes and reports what storage said too late for write().
    void close();

  private:
    [[noreturn]] void fail(const std::string& what, const std::string& where, int number) const;

    std::string path_;
    int descriptor_ = -1;
    ExitCode code_ = ExitCode::input;
};

/// "it is a pipe", of what has this mode (stat); empty for a regular file.
std::string irregular_text(unsigned mode);

/// What to try about an errno value while reading or writing a file; may be empty.
std::string errno_remedy(int number);

/// Whether what lies in the folder lies in memory (tmpfs).
bool is_in_memory(const std::string& folder);

/// Waits until the entries of the folder that holds `path` are on the disk. @throws Error (output).
void sync_folder_of(const std::string& path);

} // namespace runner
