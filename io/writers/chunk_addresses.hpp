// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/chunk_grid.hpp"
#include "io/rows/rows.hpp"

#include <cstdint>
#include <vector>

namespace runner {

/// Where each chunk of an unfiltered, allocated output lies in its file, in the grid's order.
/// @throws Error (output) when the file is not the one that create_output made.
std::vector<std::int64_t> chunk_addresses(const OutputDataset& output, const ChunkGrid& grid);

} // namespace runner
