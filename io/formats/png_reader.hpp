// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/rows/stored_rows.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// Reads a PNG: grey as [height, width], colour as [height, width, 3], of uint8 or uint16; numbers
/// of a palette, and grey of fewer bits, as they are. Lines come from the top: to go back is to
/// begin again. @throws Error (input), also for transparency and for interlaced pictures.
std::unique_ptr<RowReader> open_png_reader(const std::string& file, int threads);

/// Finds the packed lines of a PNG, as one chunk, by libpng: call this in a process that may be
/// lost. The same errors.
StoredRows survey_png(const std::string& file);

/// What the chunks of a PNG file say beside its elements.
struct PngContent {
    ChunkPlace data; ///< all IDAT chunks, which follow one another
    std::optional<std::array<double, 2>> spacing = {}; ///< of y and x, in metres
    std::vector<std::string> unkept = {};              ///< as DatasetInfo's
    std::vector<std::string> notes = {}; ///< as DatasetInfo's: transparency, other pictures
};

/// Goes from chunk to chunk, of a file that libpng has opened, up to the last or to damage.
/// @throws Error (input) where it cannot be read.
PngContent png_content(const std::string& file);

} // namespace runner
