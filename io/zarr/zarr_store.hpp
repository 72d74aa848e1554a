// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_mark.hpp"
#include "io/files/input_rules.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// A Zarr store that is a folder. Every file is one of the folder's own, or one that the rules of
/// the input allow where a link, or "..", leads out of it. @throws Error (input).
class ZarrStore {
  public:
    /// `folder`: is there.
    ZarrStore(std::string folder, const InputRules& rules);

    const std::string& folder() const { return folder_; }

    /// A file of metadata, by its name in the store; nothing where there is none. Adds its mark.
    std::optional<std::string> text(const std::string& name);

    /// What is in a folder of the store, in the order of the names; nothing where it is not there.
    std::vector<std::string> names(const std::string& name) const;

    /// Whether there is a folder of this name.
    bool has_folder(const std::string& name) const;

    /// A file by its own path, with its mark; nothing where there is none.
    std::optional<std::pair<std::string, FileMark>> file(const std::string& name);

    /// The marks of the metadata that were read.
    FileMarks take_marks() { return std::move(marks_); }

  private:
    std::filesystem::path place(const std::string& name) const;

    std::string folder_;
    std::filesystem::path real_; ///< of the folder, without links
    OutsideFiles outside_;
    std::string checked_folder_;         ///< of the last file(), and where it lies
    std::filesystem::path checked_real_; ///< empty: outside
    FileMarks marks_;
};

} // namespace runner
