// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/dense_rows.hpp"
#include "io/rows/written_format.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace runner {

/// Bytes of an MRC header.
inline constexpr std::int64_t mrc_header_bytes = 1024;

/// Whether a file that begins so says that it is one: "MAP" and the stamp of its order of bytes.
bool is_mrc(std::string_view begin);

/// Reads the header of an MRC2014 file as PyPI's mrcfile does: of modes 0 (int8), 1 (int16), 2
/// (float32), 6 (uint16) and 12 (float16, as bytes2), of the order of bytes that the machine stamp
/// says, with columns, rows and sections in this order. The shape is [z, y, x]; of one image [y,
/// x], of a stack of volumes [volume, z, y, x]. Where IMOD's stamp is there and its flag does not
/// say that bytes have a sign, mode 0 is uint8. The axes have the size of voxels and the
/// origin, in angstrom. @throws Error (input) naming the byte and the field.
DenseLayout parse_mrc(const std::array<std::byte, mrc_header_bytes>& head, const std::string& file);

/// @throws Error (input).
std::unique_ptr<RowReader> open_mrc_reader(const std::string& file, int threads);

/// WrittenFormat's functions: little-endian, without an extended header, the statistics marked as
/// not determined. An array of two axes is an image, of three a volume, or a stack of images where
/// the spacing of rows and columns alone is known, of four a stack of volumes.
/// @throws Error (usage) for what MRC cannot hold.
DataPlace mrc_place(const ArrayInfo& array);
void mrc_structure(const ArrayInfo& array, const Axes& axes, const StructurePiece& piece);

} // namespace runner
