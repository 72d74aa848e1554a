// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace runner {

/// One run of a trial, for its page.
struct TrialPicture {
    std::string heading;        ///< "denoise.strength = 0.4"; "" if there is one run
    std::string line;           ///< the command that runs the whole job with this value
    std::string facts;          ///< "whole job: 12 s, 1.2 GiB"
    std::vector<std::byte> png; ///< of the output
};

/// What the page of a trial shows.
struct TrialPage {
    std::string title;
    std::vector<std::string> lines; ///< about the part and the prediction
    std::vector<std::byte> before;  ///< PNG of the input
    std::string before_caption;
    std::vector<TrialPicture> pictures; ///< row by row
    std::size_t columns = 1;
};

/// The page: HTML that loads nothing and has no script.
std::string trial_html(const TrialPage& page);

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
