// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <cstdint>
#include <memory>

namespace runner {

/// A .sand file: what create_output(), restore_output(), row_alignment() and open_output_rows() do
/// for it.
void create_sand(const OutputDataset& output);
void restore_sand(const OutputDataset& output);
std::int64_t sand_alignment(const ArrayInfo& array, const OutputLayout& layout);
std::unique_ptr<RowWriter> open_sand_writer(const OutputDataset& output, int threads);

} // namespace runner
