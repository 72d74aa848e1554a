// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/rows/written_format.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace runner {

/// How jobs write PNG files: strips of lines, each an IDAT chunk that stands by itself, so that
/// threads and ranks pack them side by side. Together they are the one stream that a PNG has. They
/// are always packed, in deflate: a PNG knows nothing else.

/// WrittenFormat::place: of [height, width] in grey and [height, width, 3] in colour, of uint8 and
/// uint16. The last axis is colour where the layout says so; where it says nothing, 3 of uint8 in
/// the last of three extents.
/// @throws Error (usage) for what no PNG holds.
DataPlace place_png(const OutputDataset& output);

/// PackedFormat's functions.
std::vector<std::int64_t> png_chunk(const ArrayInfo& array, const OutputLayout& layout);
void make_png_structure(const OutputDataset& output, std::span<const std::int64_t> sizes,
                        const StructurePiece& piece);
std::vector<std::int64_t> png_strip_sizes(const OutputDataset& output);
Filter png_filter(const ArrayInfo& array, const OutputLayout& layout);

} // namespace runner
