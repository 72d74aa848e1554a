// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/dataset_layout.hpp"

#include <memory>

namespace runner {

/// Reads stored chunks at their places and unpacks them, on several threads. The layout has passed
/// check_layout_values(). @throws Error (input).
std::unique_ptr<RowReader> open_chunk_reader(const DatasetLayout& layout, int threads);

} // namespace runner
