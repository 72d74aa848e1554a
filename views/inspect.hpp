// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/inspect/file_content.hpp"

#include <string>

namespace runner {

/// The dataset that an HDF5 file is opened for where none is named: its only one, beside those that
/// number frames and what runner records; or that of sand where it is among several. Of a file
/// without datasets, the only one that a link leads to. @throws Error (input) that lists what there
/// is.
std::string only_dataset(const FileContent& content);

class FileAccess;

/// What is in an HDF5 or .sand file, or of one dataset of it where `dataset` is not empty: shape,
/// type, layout, chunks, filters, stored bytes, attributes. Text for people ends with a line break;
/// JSON is one object. @throws Error (input).
std::string inspect_text(FileAccess& files, const std::string& file, const std::string& dataset);
std::string inspect_json(FileAccess& files, const std::string& file, const std::string& dataset);

} // namespace runner
