// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/prepare/prepare.hpp"

#include <string>
#include <vector>

namespace runner::output {

/// Whether the input is a folder of files.
bool is_folder_input(const PreparedJob& prepared);

/// Its files that the job looked at, in the order of their names; none of another input.
std::vector<std::string> files_of_folder(const PreparedJob& prepared);

/// The files that the job takes bytes from beside those that its identity tells of as its input:
/// what links, external storage and virtual datasets lead to, what its parameters name, and so on.
/// A pass behind another one has none of the passes before it. In the order of their names.
std::vector<std::string> other_files(const PreparedJob& prepared);

/// Those that a job of so many passes takes bytes from, beside its input's own file: of a pass,
/// with those of the passes before it, but not with what these have made. Also what was looked for
/// and is not there, and the folders that were listed: what is new there is more input.
FileMarks files_beside_input(const PreparedJob& prepared);

/// @throws Error (input) naming the first file of the job that is not as it was before it was
/// looked at. What else is new in a folder does not count.
void check_files_unchanged(const PreparedJob& prepared);

/// How the input, with this mark, has changed since a job of the identity read it within the same
/// second, or what it is made of has; empty where neither has.
std::string change_since(const std::string& identity, const FileMark& input);

} // namespace runner::output
