// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <string>

namespace runner {

/// Syncs (if asked) the file, gives it its final name and syncs the folder; an existing file of
/// that name is replaced only when `overwrite`. @throws Error (output).
enum class Overwrite { no, yes };
void publish_output(const std::string& partial, const std::string& file, Overwrite overwrite,
                    RowWriter::Sync sync);

} // namespace runner
