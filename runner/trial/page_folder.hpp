// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace runner {

/// The folder that a trial's page and pictures are written to. Other files in it are left alone.
class PageFolder {
  public:
    explicit PageFolder(std::string path) : path_(std::move(path)) {}
    PageFolder(const PageFolder&) = delete;
    PageFolder& operator=(const PageFolder&) = delete;
    /// Removes the folder if make() has made it and it is still empty.
    ~PageFolder();

    /// Makes it unless it exists. @throws Error (output) if that fails, or if it already has a file
    /// of one of these names.
    void make(const std::vector<std::string>& new_names);

    /// Moves a file of the same file system into it. @throws Error (output).
    void take(const std::string& file, const std::string& name) const;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
    bool is_made_ = false;
};

} // namespace runner
