// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/descriptor.hpp"
#include "io/files/file_lock.hpp"

#include <array>
#include <memory>
#include <string>

namespace runner::trial {

/// A new folder with a unique name, for the files of one try. The destructor removes it with its
/// content, also where the process has no descriptor left. What it cannot remove keeps the folder's
/// lock, by which the next try of the same output finds and removes it.
class WorkFolder {
  public:
    /// Makes it beside the file `output`, and removes those that other processes left there.
    /// @throws Error (output), and leaves nothing then.
    explicit WorkFolder(const std::string& output);
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    ~WorkFolder();

    /// Removes its content, as far as that succeeds.
    void clear() const;

    std::string file(const std::string& name) const { return path_ + "/" + name; }

  private:
    /// Returns false where another try has removed the new folder.
    bool make(const std::string& pattern);
    void reserve();
    void remove() noexcept;

    std::string path_;
    std::unique_ptr<FileLock> lock_; ///< in the folder: held while its process lives
    /// Closed before the folder is removed, which takes one for each level of folders.
    std::array<Descriptor, 2> reserved_ = {Descriptor{-1}, Descriptor{-1}};
};

} // namespace runner::trial
