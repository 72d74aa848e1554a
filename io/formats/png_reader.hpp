// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/rows/stored_rows.hpp"

#include <memory>
#include <string>

namespace runner {

/// Reads a PNG: grey as [height, width], colour as [height, width, 3], of uint8 or uint16; numbers
/// of a palette, and grey of fewer bits, as they are. Lines come from the top: to go back is to
/// begin again. @throws Error (input), also for transparency and for interlaced pictures.
std::unique_ptr<RowReader> open_png_reader(const std::string& file, int threads);

/// Finds the packed lines of a PNG, as one chunk, by libpng: call this in a process that may be
/// lost. The same errors.
StoredRows survey_png(const std::string& file);

} // namespace runner
