// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_mark.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// A folder that this program writes as one output, with all in it.

/// Makes the folder where nothing has its name. @throws Error (output), also where what has the
/// name is no folder or another user's.
void make_output_folder(const std::string& folder);

/// The names of all files in it and in the folders in it, as "c/0/1", in ascending order.
/// @throws Error (output) where something in it is neither a regular file nor a folder.
std::vector<std::string> files_in(const std::string& folder);

/// Removes a file, or a folder with all in it; nothing where nothing has the name. Follows no
/// links. @throws Error (output).
void remove_tree(const std::string& path);

/// With more files than this in a folder, waiting for each takes longer than for all that its file
/// system has in memory.
inline constexpr std::int64_t synced_singly = 256;

/// Waits until all that this machine has written to the folder's file system is on the disk.
/// @throws Error (output).
void sync_file_system(const std::string& folder);

/// Waits until all of a folder is on the disk. @throws Error (output).
void sync_tree(const std::string& folder);

/// mark_of() of a file; of a folder, the bytes of its files and the latest of their times, or
/// 0 and 0 where something else is in it. A file of the folder called `left_out`, or
/// `left_out`.partial, does not count.
FileMark mark_of_tree(const std::string& path, const std::string& left_out = {});

} // namespace runner
