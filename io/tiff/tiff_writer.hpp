// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/written_format.hpp"

namespace runner {

/// WrittenFormat's functions of a TIFF file: [pages..., height, width] a page each plane, uint8
/// [..., height, width, 3] in colour. Classic where all offsets fit 32 bits, else BigTIFF.
/// @throws Error (usage) for one axis, and sides beyond 2^32 - 1.
DataPlace tiff_place(const ArrayInfo& array);
void tiff_structure(const ArrayInfo& array, const StructurePiece& piece);

} // namespace runner
