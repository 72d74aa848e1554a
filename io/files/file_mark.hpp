// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace runner {

/// By what a file is known to be the same: its bytes and time. `bytes` is -1 where there is none.
struct FileMark {
    std::int64_t bytes = -1;
    std::int64_t modified = 0; ///< nanoseconds since 1970

    bool operator==(const FileMark&) const = default;
    static auto members(auto& self) { return std::tie(self.bytes, self.modified); }
};
FileMark mark_of(const std::string& path);

/// Whether there is a file or a folder of that name; no where nobody can tell.
bool is_there(const std::string& path);

/// Files that give bytes to something, each by its own path (one that is not there: by the path
/// where it would be) with its mark from before its first byte was read. A folder whose names were
/// listed ends in a slash: its mark is another one once a name comes or goes.
using FileMarks = std::map<std::string, FileMark>;

/// Whether the path in FileMarks is one of a listed folder, of which no byte is read.
inline bool is_listed_folder(const std::string& path) { return path.ends_with('/'); }

/// The path of a file without links, by which it is the same under every name.
std::string own_path(const std::string& path);

/// Adds the file as it is now; one that has been added before keeps its mark.
void add_mark(FileMarks& marks, const std::string& path);

/// The first of the files whose mark is another one now; empty where there is none.
std::string first_changed(const FileMarks& marks);

} // namespace runner
