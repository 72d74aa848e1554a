// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"
#include "io/files/file_mark.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// A .zip, also one of more than 4 GiB (zip64), of which members are read that are stored as they
/// are. Names of members are paths without "..", links and slashes at their ends.
class ZipArchive {
  public:
    /// The bytes of a member in the file, and their CRC-32.
    struct Extent {
        std::int64_t offset = 0;
        std::int64_t bytes = 0;
        std::uint32_t checksum = 0;
    };

    /// Reads its directory. @throws Error (input) where that is damaged, or a name leads out of the
    /// archive or is there twice.
    explicit ZipArchive(const std::string& file);

    /// The path of the file, without links, and its mark.
    const std::string& path() const { return file_.path(); }
    const FileMark& mark() const { return mark_; }

    /// Where a member lies; nothing where there is none. @throws Error (input) for one that is
    /// compressed, encrypted or a link, or whose own header is not that of the directory.
    std::optional<Extent> find(const std::string& name) const;

    /// A whole member of at most `most_bytes`, compared with its checksum; as find().
    std::optional<std::string> text(const std::string& name, std::int64_t most_bytes) const;

    /// What is in a folder ("": the root), in the order of the names.
    std::vector<std::string> names(const std::string& folder) const;
    bool has_folder(const std::string& folder) const;

  private:
    /// An entry of the directory.
    struct Entry {
        std::int64_t header = 0; ///< the byte that its own header begins at
        std::int64_t bytes = 0;
        std::int64_t packed = 0;
        std::uint32_t checksum = 0; ///< crc32 of the bytes
        unsigned method = 0;
        unsigned flags = 0;
        bool is_link = false;
    };
    struct Directory;
    class Numbers;

    [[noreturn]] void refuse(const std::string& member, const std::string& why,
                             const std::string& remedy) const;
    [[noreturn]] void refuse_damage(const std::string& why) const;
    std::vector<std::byte> bytes_at(std::int64_t offset, std::int64_t bytes) const;
    Directory find_directory() const;
    void read_large(Directory& directory, std::int64_t end_record) const;
    void add_entries(const Directory& directory);
    void add_entry(const Numbers& fields, std::string name, const Numbers& extra);

    File file_;
    FileMark mark_;
    std::int64_t begin_of_directory_ = 0; ///< where members end
    std::map<std::string, Entry> entries_;
};

} // namespace runner
