// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_mark.hpp"
#include "io/files/input_rules.hpp"
#include "io/zarr/zip_archive.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// Bytes of a store: a file, or a part of one.
struct StoreFile {
    std::string path; ///< without links
    FileMark mark;    ///< of the whole file
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
    std::optional<std::uint32_t> checksum = {}; ///< CRC-32 of a member of an archive
};

/// The name of a node in a group of a store; "" is the store itself.
inline std::string within(const std::string& group, const std::string& name) {
    return group.empty() ? name : group + "/" + name;
}

/// A Zarr store that is a folder, or a .zip. Every file is one of the folder's own, or one that the
/// rules of the input allow where a link, or "..", leads out of it. @throws Error (input).
class ZarrStore {
  public:
    /// `folder`: is there.
    ZarrStore(std::string folder, const InputRules& rules);

    const std::string& folder() const { return folder_; }

    /// A file of metadata, by its name in the store; nothing where there is none. Adds its mark,
    /// also where there is none.
    std::optional<std::string> text(const std::string& name);

    /// What is in a folder of the store, in the order of the names; nothing where it is not there.
    /// Adds the folder's mark.
    std::vector<std::string> names(const std::string& name);

    /// Whether there is a folder of this name. Adds the mark of one that is not there.
    bool has_folder(const std::string& name);

    /// Whether it is one of the store's own, no link that leads to one.
    bool has_own_folder(const std::string& name);

    /// A file of the store; nothing where there is none.
    std::optional<StoreFile> file(const std::string& name);

    /// The marks of the metadata that were looked for, and of the folders that were listed.
    FileMarks take_marks() { return std::move(marks_); }

  private:
    std::filesystem::path place(const std::string& name) const;
    std::string own_name(const std::string& name) const;
    std::string member(const std::string& name) const;

    std::string folder_;
    std::filesystem::path real_; ///< of the folder, without links
    OutsideFiles outside_;
    std::optional<ZipArchive> archive_;  ///< what the store is, if it is no folder
    std::string checked_folder_;         ///< of the last file(), and where it lies
    std::filesystem::path checked_real_; ///< empty: outside
    FileMarks marks_;
};

} // namespace runner
