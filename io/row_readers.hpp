// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/dataset_layout.hpp"
#include "io/rows.hpp"

#include <memory>
#include <string>

namespace runner {

/// Plain reads of a file whose elements lie dense from `info.offset` on. @throws Error (input).
std::unique_ptr<RowReader> open_positional_reader(const std::string& file, DatasetInfo info,
                                                  int threads);

/// Reads stored chunks at their places and unpacks them, on several threads. The layout has passed
/// check_layout_values(). @throws Error (input).
std::unique_ptr<RowReader> open_chunk_reader(const DatasetLayout& layout, int threads);

/// What inspect_dataset() and open_rows() say of a .sand file.
DatasetInfo inspect_sand(const std::string& file);
std::unique_ptr<RowReader> open_sand_reader(const std::string& file, int threads);

} // namespace runner
