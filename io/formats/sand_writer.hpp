// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/written_format.hpp"

#include <cstdint>
#include <memory>

namespace runner {

/// WrittenFormat's functions of a .sand file. @throws as they do.
DataPlace sand_place(const ArrayInfo& array);
void sand_structure(const ArrayInfo& array, const StructurePiece& piece);
std::int64_t sand_alignment(const ArrayInfo& array);
std::unique_ptr<RowReader> open_sand_output(const OutputDataset& output, int threads);
std::unique_ptr<RowWriter> open_sand_writer(const OutputDataset& output, int threads);

} // namespace runner
