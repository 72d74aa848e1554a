// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace runner {

/// Opens a file that this program writes, with `flags` as of open(2); O_CLOEXEC is added. Folders
/// of the path may be links, the file itself may not: somebody else's file would change.
/// @returns a descriptor, or -1 with errno. @throws Error (output) where a symbolic link, a file
/// with several names (hard links) or what is no file (a FIFO, a block device) has the name.
int open_own_file(const std::string& path, int flags);

/// Why open_own_file() would refuse what has this name; empty where it would not, and where nothing
/// has it.
std::string foreign_file(const std::string& path);

/// Opens a new file that this program writes, with `flags` beside those that make it: whoever has
/// made a file of that name before owns it and may have it open, so that one is removed and never
/// emptied. A character device is opened as it is.
/// @returns and @throws as open_own_file().
int make_own_file(const std::string& path, int flags);

/// Whose file or folder has this name, where this process cannot have made it; empty where it can
/// have, and where nothing has the name. A new file's owner may be another than the process's, as
/// on a network file system that makes root somebody else, so that one is made beside it to tell.
std::string foreign_owner(const std::string& path);

/// Puts a whole file in place: as PATH.partial first, or where others have that name under one that
/// nothing has, then renamed, so that `path` never shows half of it. A file of that name is
/// replaced. What is no file (/dev/null, a FIFO) is written into, and so are /dev/stdout,
/// /dev/stderr and /dev/fd/N, whatever they lead to.
/// @throws Error (output), also where `path` is any other symbolic link.
enum class Durable { no, yes }; ///< whether a power cut leaves the old file or the new one, whole
void replace_file(const std::string& path, std::span<const std::byte> bytes,
                  Durable durable = Durable::no);

/// Whether to replace the file of this name would lose what somebody else has there: it holds
/// something, and its first 16 KiB are without `mark`. Of a symbolic link, which replace_file()
/// refuses, and of what is no file, no.
bool is_of_others(const std::string& path, std::string_view mark);

/// Whether replace_file() writes into what has the name, so that its folder need not be writable.
/// @throws Error (output) where replace_file() would for a link, so that a long run finds it first.
bool is_written_into(const std::string& path);

} // namespace runner
