// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/inspect/file_content.hpp"

#include <optional>
#include <string>

namespace runner {

class FileAccess;

/// The dataset that an HDF5 file is opened for where none is named: its only one, beside those that
/// number frames and what runner records; or that of sand where it is among several. Of a file
/// without datasets, the only one that a link leads to. @throws Error (input) that lists what there
/// is.
std::string only_dataset(const FileContent& content);

/// The dataset that a job reads where none is named; nothing where one must be. @throws Error for
/// what is no fault of the input.
std::optional<std::string> default_dataset(FileAccess& files, const std::string& file);

} // namespace runner
