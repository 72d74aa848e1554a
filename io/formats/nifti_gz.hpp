// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/rows/written_format.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace runner {

/// How jobs write .nii.gz files: as gzip allows, several packed files one after the other, its
/// members. The first has the header, the next have strips of rows, so that threads and ranks pack
/// them side by side; the last ones are empty and say in a field that readers skip how many bytes
/// each strip has. Together they unpack to the .nii file of the same output.

/// WrittenFormat::place. @throws Error (usage) as nifti_place().
DataPlace place_nifti_gz(const OutputDataset& output);

/// PackedFormat's functions.
std::vector<std::int64_t> nifti_gz_chunk(const ArrayInfo& array, const OutputLayout& layout);
void make_nifti_gz_structure(const OutputDataset& output, std::span<const std::int64_t> sizes,
                             const StructurePiece& piece);
std::vector<std::int64_t> nifti_gz_sizes(const OutputDataset& output);

} // namespace runner
