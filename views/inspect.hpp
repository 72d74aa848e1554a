// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/metadata/metadata.hpp"

#include <functional>
#include <string>

namespace runner {

class FileAccess;

/// What a file says of a dataset of it beside its elements, by its path.
using ReadMetadata = std::function<Metadata(const std::string& dataset)>;

/// What is in an HDF5 or .sand file, or of one dataset of it where `dataset` is not empty: shape,
/// type, layout, chunks, filters, stored bytes, attributes. Text for people ends with a line break;
/// JSON is one object. `metadata` may be empty: then nothing is said of the angles of frames.
/// @throws Error (input).
std::string inspect_text(FileAccess& files, const std::string& file, const std::string& dataset,
                         const ReadMetadata& metadata = {});
std::string inspect_json(FileAccess& files, const std::string& file, const std::string& dataset,
                         const ReadMetadata& metadata = {});

} // namespace runner
