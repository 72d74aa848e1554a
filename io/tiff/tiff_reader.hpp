// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <memory>
#include <string>

namespace runner {

/// Reads a TIFF file, also a BigTIFF, in any compression that libtiff knows: [height, width], of
/// several pages [pages, height, width], of pictures in red, green and blue with 3 as the last
/// extent. Memory beside the caller's: a compressed strip, or the tiles side by side.
/// @throws Error (input).
std::unique_ptr<RowReader> open_tiff_reader(const std::string& file, int threads);

} // namespace runner
