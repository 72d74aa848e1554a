// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/zip_archive.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/filters/crc32.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

namespace runner {
namespace {

constexpr std::int64_t most_directory_bytes = 256 * MiB;
constexpr const char* get_again = "The archive is damaged: copy it again, or make it again";

// The signatures of an archive's records, and how many bytes of them are the same in all.
constexpr std::uint64_t end_mark = 0x06054b50;
constexpr std::int64_t end_bytes = 22;
constexpr std::uint64_t large_end_mark = 0x06064b50;
constexpr std::int64_t large_end_bytes = 56;
constexpr std::uint64_t locator_mark = 0x07064b50;
constexpr std::int64_t locator_bytes = 20;
constexpr std::uint64_t entry_mark = 0x02014b50;
constexpr std::int64_t entry_bytes = 46;
constexpr std::uint64_t header_mark = 0x04034b50;
constexpr std::int64_t header_bytes = 30;

// Numbers of 16 and 32 bits that stand for a larger one, which zip64 has elsewhere.
constexpr std::uint64_t none16 = 0xffff;
constexpr std::uint64_t none32 = 0xffffffff;

/// Whether a member's name is a path within the archive.
bool leads_within(std::string_view name) {
    if (name.empty() || name.find('\\') != std::string_view::npos ||
        name.find('\0') != std::string_view::npos) {
        return false;
    }
    for (std::size_t at = 0; at <= name.size();) {
        const std::size_t end = std::min(name.find('/', at), name.size());
        const std::string_view part = name.substr(at, end - at);
        if (part.empty() || part == "." || part == "..") {
            return false;
        }
        at = end + 1;
    }
    return true;
}

} // namespace

/// Little-endian numbers in bytes of the archive.
class ZipArchive::Numbers {
  public:
    explicit Numbers(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::size_t size() const { return bytes_.size(); }
    Numbers part(std::size_t at, std::size_t count) const {
        return Numbers(bytes_.subspan(at, count));
    }
    std::string text() const {
        return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
    }
    std::uint64_t number(std::size_t at, std::size_t width) const {
        std::uint64_t value = 0;
        for (std::size_t i = width; i-- > 0;) {
            value = value << 8U | std::to_integer<std::uint64_t>(bytes_[at + i]);
        }
        return value;
    }

  private:
    std::span<const std::byte> bytes_;
};

/// Where the directory is, by the record at the archive's end.
struct ZipArchive::Directory {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t entries = 0;
    std::int64_t end = 0; ///< the byte that the records behind it begin at
};

ZipArchive::ZipArchive(const std::string& file)
    : file_(std::filesystem::canonical(file).string(), File::Mode::read),
      mark_(mark_of(file_.path())) {
    const Directory directory = find_directory();
    const auto end = static_cast<std::uint64_t>(directory.end);
    if (directory.offset > end || directory.bytes > end - directory.offset) {
        refuse_damage(fmt::format("its directory would be {} bytes from byte {}, and the records "
                                  "behind it begin at byte {}",
                                  directory.bytes, directory.offset, end));
    }
    if (directory.bytes > most_directory_bytes) {
        refuse("", "its directory has " + size_text(static_cast<std::int64_t>(directory.bytes)),
               "Unpack it, and name the folder");
    }
    begin_of_directory_ = static_cast<std::int64_t>(directory.offset);
    add_entries(directory);
}

void ZipArchive::refuse(const std::string& member, const std::string& why,
                        const std::string& remedy) const {
    throw Error(ExitCode::input,
                {"cannot read the Zarr store",
                 path() + (member.empty() ? "" : ", member " + printable(member)), why, remedy});
}

void ZipArchive::refuse_damage(const std::string& why) const { refuse("", why, get_again); }

std::vector<std::byte> ZipArchive::bytes_at(std::int64_t offset, std::int64_t bytes) const {
    std::vector<std::byte> read(static_cast<std::size_t>(bytes));
    file_.read(offset, bytes, read.data());
    return read;
}

ZipArchive::Directory ZipArchive::find_directory() const {
    constexpr std::int64_t most_comment = none16;
    const std::int64_t size = file_.size();
    const std::int64_t begin = std::max<std::int64_t>(0, size - end_bytes - most_comment);
    const std::vector<std::byte> bytes = bytes_at(begin, size - begin);
    const Numbers tail(bytes);
    for (std::int64_t at = std::ssize(bytes) - end_bytes; at >= 0; --at) {
        const auto from = static_cast<std::size_t>(at);
        const auto comment = tail.size() - from - end_bytes;
        if (tail.number(from, 4) != end_mark || tail.number(from + 20, 2) != comment) {
            continue;
        }
        Directory found{tail.number(from + 16, 4), tail.number(from + 12, 4),
                        tail.number(from + 10, 2), begin + at};
        const bool is_large =
            found.offset == none32 || found.bytes == none32 || found.entries == none16;
        if (is_large) {
            read_large(found, begin + at);
        } else if (tail.number(from + 4, 4) != 0) { // numbers of this disk and the directory's
            refuse("", "it is one of several files", "Join them: zip -s 0 IN.zip --out ONE.zip");
        }
        return found;
    }
    refuse_damage("no record of its directory is at its end: it is cut short, or no .zip");
}

void ZipArchive::read_large(Directory& directory, std::int64_t end_record) const {
    const std::int64_t at = end_record - locator_bytes;
    if (at < 0) {
        refuse_damage("the record of its large directory is missing");
    }
    const std::vector<std::byte> locator = bytes_at(at, locator_bytes);
    const std::uint64_t record = Numbers(locator).number(8, 8);
    if (Numbers(locator).number(0, 4) != locator_mark || record > static_cast<std::uint64_t>(at) ||
        static_cast<std::uint64_t>(at) - record < large_end_bytes) {
        refuse_damage("the record of its large directory is missing");
    }
    directory.end = static_cast<std::int64_t>(record);
    const std::vector<std::byte> bytes = bytes_at(directory.end, large_end_bytes);
    const Numbers fields(bytes);
    if (fields.number(0, 4) != large_end_mark) {
        refuse_damage("the record of its large directory is missing");
    }
    if (fields.number(16, 8) != 0) {
        refuse("", "it is one of several files", "Join them: zip -s 0 IN.zip --out ONE.zip");
    }
    directory.entries = fields.number(32, 8);
    directory.bytes = fields.number(40, 8);
    directory.offset = fields.number(48, 8);
}

void ZipArchive::add_entries(const Directory& directory) {
    const std::vector<std::byte> bytes =
        bytes_at(begin_of_directory_, static_cast<std::int64_t>(directory.bytes));
    const Numbers all(bytes);
    std::size_t at = 0;
    for (std::uint64_t i = 0; i < directory.entries; ++i) {
        if (all.size() - at < entry_bytes || all.number(at, 4) != entry_mark) {
            refuse_damage(fmt::format("entry {} of its directory, at byte {}, is none", i,
                                      directory.offset + at));
        }
        const Numbers fields = all.part(at, entry_bytes);
        const std::size_t name = fields.number(28, 2);
        const std::size_t extra = fields.number(30, 2);
        const std::size_t comment = fields.number(32, 2);
        at += entry_bytes;
        if (all.size() - at < name + extra + comment) {
            refuse_damage(fmt::format("entry {} of its directory passes its end", i));
        }
        add_entry(fields, all.part(at, name).text(), all.part(at + name, extra));
        at += name + extra + comment;
    }
    if (at != all.size()) {
        refuse_damage(
            fmt::format("its directory has {} bytes more than its entries", all.size() - at));
    }
}

void ZipArchive::add_entry(const Numbers& fields, std::string name, const Numbers& extra) {
    constexpr std::uint64_t unix_system = 3;
    constexpr std::uint64_t file_type = 0170000;
    constexpr std::uint64_t link_type = 0120000;
    const bool is_folder = name.ends_with('/');
    name.resize(name.size() - (is_folder ? 1 : 0));
    if (!leads_within(name)) {
        refuse(name, "its name is no path within the archive", "Unpack it with care, and look");
    }
    std::array<std::uint64_t, 3> sizes = {fields.number(24, 4), fields.number(20, 4),
                                          fields.number(42, 4)}; // bytes, packed, header
    for (std::size_t at = 0; extra.size() - at >= 4;) {
        const std::size_t bytes = extra.number(at + 2, 2);
        const bool is_large = extra.number(at, 2) == 1;
        at += 4;
        if (extra.size() - at < bytes) {
            break;
        }
        std::size_t next = at;
        for (std::uint64_t& size : sizes) { // those that are none32 follow one another
            if (is_large && size == none32 && at + bytes - next >= 8) {
                size = extra.number(next, 8);
                next += 8;
            }
        }
        at += bytes;
    }
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    if (std::any_of(sizes.begin(), sizes.end(), [](std::uint64_t each) { return each > most; })) {
        refuse(name, "its size in the directory cannot be right", get_again);
    }
    if (is_folder) {
        return;
    }
    const std::uint64_t attributes = fields.number(38, 4) >> 16U;
    const Entry entry{static_cast<std::int64_t>(sizes[2]),
                      static_cast<std::int64_t>(sizes[0]),
                      static_cast<std::int64_t>(sizes[1]),
                      static_cast<std::uint32_t>(fields.number(16, 4)),
                      static_cast<unsigned>(fields.number(10, 2)),
                      static_cast<unsigned>(fields.number(8, 2)),
                      fields.number(5, 1) == unix_system && (attributes & file_type) == link_type};
    if (!entries_.emplace(name, entry).second) {
        refuse(name, "two members have this name", "Make the archive again");
    }
}

std::optional<ZipArchive::Extent> ZipArchive::find(const std::string& name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) {
        return std::nullopt;
    }
    const Entry& entry = found->second;
    if (entry.is_link) {
        refuse(name, "it is a link", "Unpack the archive, and name the folder");
    }
    if ((entry.flags & 1U) != 0) {
        refuse(name, "it is encrypted", "Unpack the archive, and name the folder");
    }
    if (entry.method != 0 || entry.packed != entry.bytes) {
        refuse(name, "it is compressed",
               "Unpack the archive, and name the folder or pack it without: zip -0 -r OUT.zip .");
    }
    const auto size = static_cast<std::int64_t>(name.size());
    if (entry.header > begin_of_directory_ - header_bytes - size) {
        refuse(name, fmt::format("it would begin at byte {}, where the directory is", entry.header),
               get_again);
    }
    const std::vector<std::byte> bytes = bytes_at(entry.header, header_bytes + size);
    const Numbers header(bytes);
    if (header.number(0, 4) != header_mark || header.number(26, 2) != name.size() ||
        header.part(header_bytes, name.size()).text() != name) {
        refuse(name, fmt::format("at byte {}, where it would begin, is another one", entry.header),
               get_again);
    }
    const std::int64_t offset =
        entry.header + header_bytes + size + static_cast<std::int64_t>(header.number(28, 2));
    if (offset > begin_of_directory_ || entry.bytes > begin_of_directory_ - offset) {
        refuse(name,
               fmt::format("its {} bytes pass byte {}, where the directory begins", entry.bytes,
                           begin_of_directory_),
               get_again);
    }
    return Extent{offset, entry.bytes, entry.checksum};
}

std::optional<std::string> ZipArchive::text(const std::string& name,
                                            std::int64_t most_bytes) const {
    const std::optional<Extent> found = find(name);
    if (!found) {
        return std::nullopt;
    }
    if (found->bytes > most_bytes) {
        refuse(name,
               "it has " + size_text(found->bytes) + ", and metadata has at most " +
                   size_text(most_bytes),
               "Unpack the archive, and look");
    }
    const std::vector<std::byte> bytes = bytes_at(found->offset, found->bytes);
    std::string text = Numbers(bytes).text();
    if (crc32_of(bytes) != found->checksum) {
        refuse(name, "it does not match its checksum", get_again);
    }
    return text;
}

std::vector<std::string> ZipArchive::names(const std::string& folder) const {
    const std::string prefix = folder.empty() ? "" : folder + "/";
    std::vector<std::string> names;
    for (auto at = entries_.lower_bound(prefix);
         at != entries_.end() && at->first.starts_with(prefix);) {
        const std::size_t end = at->first.find('/', prefix.size());
        names.push_back(at->first.substr(prefix.size(), end - prefix.size()));
        // '0' follows '/': behind all that is in the folder.
        at = end == std::string::npos ? std::next(at)
                                      : entries_.lower_bound(at->first.substr(0, end) + "0");
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

bool ZipArchive::has_folder(const std::string& folder) const {
    const std::string prefix = folder.empty() ? "" : folder + "/";
    const auto found = entries_.lower_bound(prefix);
    return folder.empty() || (found != entries_.end() && found->first.starts_with(prefix));
}

} // namespace runner
