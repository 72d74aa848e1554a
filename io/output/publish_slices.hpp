// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/output/publish_output.hpp"

#include <string>
#include <vector>

namespace runner {

/// How the slices of an output get their names. No call renames many files at once, so that the
/// folder FILE.partial is first renamed itself: to FILE.replacing while slices of an earlier output
/// are removed, then to FILE.publishing, from which each slice is renamed to its place. A run may
/// die at any call; the name of the folder says what is left to do, and FILE.replaced which slices
/// are those of the earlier output.

/// "FILE.replaced": the slices that FILE.replacing is to replace, with their bytes and times, from
/// before the folder has that name until all are removed.
std::string replaced_list(const std::string& file);

/// All names that slices of FILE, or a list of them, have on that way.
std::vector<std::string> publishing_names(const std::string& file);

/// "FILE.replacing" or "FILE.publishing", whichever is there; "" where neither is, or
/// the output is in no slices.
std::string publishing_folder(const std::string& file);

/// publish_output() of slices, after their folder is synced. @throws Error (output).
void publish_slices(const std::string& partial, const std::string& file, Overwrite overwrite,
                    RowWriter::Sync sync);

/// Does what a run that died in publish_slices() had left to do. @throws Error (output).
void finish_slices(const std::string& file, RowWriter::Sync sync);

} // namespace runner
