// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <memory>

namespace runner {

/// Makes a TIFF file of its whole length: a page for each frame, the last two axes; of uint8 with
/// three axes or more and 3 as the last extent, in red, green and blue. Uncompressed, the elements
/// of all pages dense and in order; a BigTIFF where the file passes 4 GiB.
/// @throws Error: (output); (usage) for one axis, and sides beyond 2^32 - 1.
std::unique_ptr<RowWriter> make_tiff_writer(const OutputDataset& output, int threads);

} // namespace runner
