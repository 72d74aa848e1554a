// SPDX-License-Identifier: BSD-3-Clause
#include "runner/prepare/disk_space.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/files/folder_tree.hpp"
#include "io/output/journal.hpp"
#include "io/output/output_size.hpp"
#include "io/output/own_parts.hpp"
#include "io/rows/output_parts.hpp"
#include "runner/job_file/job_text.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include <sys/stat.h>

namespace runner {
namespace {

std::filesystem::path folder_of(const std::string& file) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    return folder.empty() ? std::filesystem::path(".") : folder;
}

/// The disk space that a file takes, or those in a folder; 0 where there is none. Files that grow
/// in several places have holes.
std::int64_t allocated_bytes(const std::string& file) {
    constexpr std::int64_t block = 512; // whatever the file system's is: see stat(2)
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) {
        return 0;
    }
    if (!S_ISDIR(status.st_mode)) {
        return status.st_blocks * block;
    }
    std::int64_t bytes = 0;
    try {
        for (const std::string& name : files_in(file)) {
            bytes += allocated_bytes((std::filesystem::path(file) / name).string());
        }
    } catch (const Error&) { // with what no output has in it
        return 0;
    }
    return bytes;
}

/// The disk space that an interrupted run's unfinished output takes.
std::int64_t bytes_left(const std::string& output) {
    std::int64_t bytes = allocated_bytes(partial_name(output)) + bytes_of_shards(output);
    if (const std::optional<PartLayout> parts = parts_in_journal(output)) {
        for (std::int64_t part = 0; part < parts->parts; ++part) {
            bytes += allocated_bytes(parts_folder(output) + "/" + part_name(part, parts->set));
        }
    }
    return bytes;
}

bool on_one_device(const std::filesystem::path& a, const std::filesystem::path& b) {
    struct stat of_a {};
    struct stat of_b {};
    return ::stat(a.c_str(), &of_a) == 0 && ::stat(b.c_str(), &of_b) == 0 &&
           of_a.st_dev == of_b.st_dev;
}

} // namespace

DiskSpace disk_space(const PreparedJob& prepared) {
    const std::filesystem::path folder = folder_of(prepared.file.output.file);
    std::error_code failure;
    const std::filesystem::space_info space = std::filesystem::space(folder, failure);
    if (failure) {
        const std::string home = home_text(prepared.file.output.file);
        throw Error(ExitCode::output,
                    {"cannot write the output", prepared.file.output.file,
                     "its folder " + folder.string() + ": " + failure.message(),
                     home.empty() ? "Make it: mkdir -p " + shell_word(folder.string()) : home});
    }
    DiskSpace disk;
    disk.free = static_cast<std::int64_t>(
        std::min<std::uintmax_t>(space.available, std::uintmax_t{1} << 62));
    // What an earlier run left is resumed or replaced.
    disk.free += bytes_left(prepared.file.output.file);
    const OutputLayout& layout = prepared.file.output.layout;
    disk.needed = output_room(prepared.output(), layout, folder.string());
    const std::int64_t packed = layout.compression == Compression::none ? 0 : disk.needed;
    if (prepared.kept) {
        disk.needed += prepared.kept->bytes();
    }
    if (prepared.input_is_missing && on_one_device(folder_of(prepared.file.input.file), folder)) {
        disk.needed += byte_count(prepared.layout.info.array);
    }
    if (const std::optional<InputOrigin>& origin = prepared.place.origin) {
        const auto add = [&](const std::string& file, std::int64_t bytes) {
            if (!std::filesystem::exists(file, failure) && on_one_device(folder_of(file), folder)) {
                disk.needed += bytes;
                disk.free += bytes_left(file);
            }
        };
        // What earlier passes are yet to make.
        add(prepared.file.input.file, byte_count(prepared.layout.info.array));
        for (const auto& [file, bytes] : origin->kept) {
            add(file, bytes);
        }
    }
    disk.least = disk.needed - packed;
    return disk;
}

std::string DiskSpace::doubt() const {
    if (free < least || free >= needed) {
        return "";
    }
    return "the output may not fit on its disk: without compression it takes " + size_text(needed) +
           ", and " + size_text(free) +
           " are free; if the disk becomes full, the run ends, and the same command resumes it";
}

DiskSpace sufficient_disk_space(const PreparedJob& prepared, std::int64_t scratch_bytes) {
    DiskSpace disk = disk_space(prepared);
    disk.needed += scratch_bytes;
    disk.least += scratch_bytes;
    if (disk.free < disk.least) {
        throw Error(
            ExitCode::usage,
            {"the job does not fit", "disk of " + prepared.file.output.file,
             "it needs " + size_text(disk.least) + " and " + size_text(disk.free) + " are free",
             "Free " + size_text(disk.least - disk.free) + ", or name another disk"});
    }
    return disk;
}

} // namespace runner
