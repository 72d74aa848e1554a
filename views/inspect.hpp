// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace runner {

class FileAccess;

/// What is in an HDF5 or .sand file, or of one dataset of it where `dataset` is not empty: shape,
/// type, layout, chunks, filters, stored bytes, attributes. Text for people ends with a line break;
/// JSON is one object. @throws Error (input).
std::string inspect_text(FileAccess& files, const std::string& file, const std::string& dataset);
std::string inspect_json(FileAccess& files, const std::string& file, const std::string& dataset);

} // namespace runner
