// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/dataset_layout.hpp"

#include <memory>
#include <vector>

namespace runner {

/// Reads stored chunks at their places and unpacks them, on several threads. The layout has passed
/// check_layout_values(). @throws Error (input).
std::unique_ptr<RowReader> open_chunk_reader(const DatasetLayout& layout, int threads);

/// All rows of a layout that is read at positions, in their order.
std::vector<RowExtent> plain_extents(const DatasetLayout& layout);

/// Plain reads of a file whose rows lie dense, from the layout's offset on or at its extents.
/// Elements of the other order of bytes are turned round. @throws Error (input).
std::unique_ptr<RowReader> open_positional_reader(const DatasetLayout& layout, int threads);

} // namespace runner
