// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/rows/stored_rows.hpp"
#include "io/rows/written_format.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// Finds where a TIFF file has its strips and tiles, and how they are packed, by libtiff: call this
/// in a process that may be lost. Pages without compression are read at positions; those in
/// deflate, zstd, LZW and PackBits, also with a predictor, by chunks; others by libtiff.
/// @throws Error (input).
StoredRows survey_tiff(const std::string& file);

/// Reads a TIFF file, also a BigTIFF, in any compression that libtiff knows: [height, width], of
/// several pages [pages, height, width], of pictures in red, green and blue with 3 as the last
/// extent. Memory beside the caller's: a compressed strip, or the tiles side by side.
/// @throws Error (input).
std::unique_ptr<RowReader> open_tiff_reader(const std::string& file, int threads);

/// How a TIFF file that is written describes its pages.
enum class TiffFlavour { imagej, ome };

/// WrittenFormat's functions of a TIFF file: [pages..., height, width] a page each plane,
/// [..., height, width, 3] in colour. Classic where all offsets fit 32 bits, else BigTIFF.
/// @throws Error (usage) as tiff_image() and ome_description().
DataPlace place_tiff(const OutputDataset& output, TiffFlavour flavour);
void make_tiff_structure(const OutputDataset& output, TiffFlavour flavour,
                         const StructurePiece& piece);
/// PackedFormat's functions: strips or tiles in deflate, zstd and LZW.
bool is_tiff_compression(Compression compression);
std::vector<std::int64_t> tiff_chunk(const ArrayInfo& array, const OutputLayout& layout);
bool has_tiff_tiles(const ArrayInfo& array, const OutputLayout& layout);
void make_packed_tiff_structure(const OutputDataset& output, TiffFlavour flavour,
                                std::span<const std::int64_t> sizes, const StructurePiece& piece);
std::vector<std::int64_t> packed_strip_sizes(const OutputDataset& output);

/// WrittenFormat::levels of a pyramid: y and x are halved until neither is above 256 elements. Each
/// page has its levels in SubIFDs. @throws Error (usage) as tiff_image().
std::vector<CoarserLevel> tiff_levels(const OutputDataset& output);

std::vector<std::string> left_out_of_tiff(const OutputDataset& output, TiffFlavour flavour);

} // namespace runner
