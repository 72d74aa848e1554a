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

} // namespace runner
