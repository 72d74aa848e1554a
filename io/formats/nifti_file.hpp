// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/dense_rows.hpp"
#include "io/rows/written_format.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace runner {

/// Bytes of a NIfTI-1 header.
inline constexpr std::int64_t nifti_header_bytes = 348;

/// Reads the header of a NIfTI-1 file that holds its elements too ("n+1"), of either order of
/// bytes. The file's first axis, x, runs fastest, so the shape is its dim[] backwards:
/// [t, z, y, x]. Where scl_slope is neither 0 nor NaN, and scales at all, elements are
/// scl_slope · stored + scl_inter. @throws Error (input) naming the byte and the field.
DenseLayout parse_nifti(const std::array<std::byte, nifti_header_bytes>& head,
                        const std::string& file);

/// .nii, or .nii.gz. @throws Error (input).
std::unique_ptr<RowReader> open_nifti_reader(const std::string& file, int threads);

/// WrittenFormat's functions: a .nii file of little-endian elements, not scaled, with the spacing
/// and the affines of the output's axes. @throws Error (usage) for elements other than the ten
/// types, more than 7 axes, and axes of more than 32767 elements.
DataPlace nifti_place(const ArrayInfo& array);
void nifti_structure(const ArrayInfo& array, const Axes& axes, const StructurePiece& piece);

/// A file of volumes, NIfTI-1 or MRC, has no samples of colour: the next program would take them
/// for columns. @throws Error (usage).
void refuse_colour_in_volume(const OutputDataset& output);

} // namespace runner
