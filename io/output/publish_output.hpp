// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <string>

namespace runner {

/// Whether a file that has the name already may be replaced.
enum class Overwrite { no, yes };

/// Syncs (if asked) the file, gives it its final name and syncs the folder. @throws Error (output).
void publish_output(const std::string& partial, const std::string& file, Overwrite overwrite,
                    RowWriter::Sync sync);

/// Refuses a folder under an output's name that holds what no output has. `partial`: where the
/// result is; empty before anything is made. @throws Error (output).
void check_replaced(const std::string& file, const std::string& partial = "");

/// Renames where no file of the new name exists; an errno value, 0 for success.
int rename_new(const char* from, const char* to);

/// Whether `partial` and `file` are the two names, and the only ones, of one file: where the file
/// system cannot rename without replacing, publish_output() makes the second name and then removes
/// the first, and a run may die in between.
bool is_half_published(const std::string& partial, const std::string& file);

/// Removes the first name then. @throws Error (output).
void finish_publishing(const std::string& partial, const std::string& file);

} // namespace runner
