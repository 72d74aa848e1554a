// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/inspect/file_content.hpp"

#include <optional>
#include <string>

namespace runner {

class FileAccess;

/// The dataset that `convert` opens an HDF5 file for where none is named or has default_dataset():
/// its only one, beside those that number frames and what runner records; that of sand where it is
/// among several; the only one of several axes. What external links lead to counts, and soft links
/// where there is nothing else. @throws Error (input) that lists what there
/// is.
std::string only_dataset(const FileContent& content);

/// The dataset that a job reads where none is named; nothing where one must be. @throws Error for
/// what is no fault of the input.
std::optional<std::string> default_dataset(FileAccess& files, const std::string& file);

} // namespace runner
