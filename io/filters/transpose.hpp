// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/codec.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace runner {

/// Zarr's transpose: the elements of a chunk with its axes in another order. Axis i of what is
/// stored is axis order[i] of the chunk.
Codec transpose_codec();

/// Its parameters: {bytes of an element, the order, the chunk's extents}. `order`: each axis once;
/// `shape`: as many extents, below 2^32 each; `element_bytes`: 1, 2, 4, 8 or 16.
std::vector<unsigned> transpose_parameters(std::int64_t element_bytes,
                                           std::span<const std::int64_t> order,
                                           std::span<const std::int64_t> shape);

} // namespace runner
