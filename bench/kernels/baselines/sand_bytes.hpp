// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/sand/sand.hpp"

#include <cstdint>

namespace runner {

/// What benchmarks compare `advance_sand` to on the CPU: a byte a cell, one thread, the whole grid
/// (rows × columns, row-major) in place, from `generation` to `generation` + `generations`.

/// Block by block with branches; draws only where they are asked for.
void advance_sand_sequential(const Sand& sand, std::uint64_t generation, std::int64_t generations,
                             std::uint8_t* cells);

/// Vectors of blocks without branches, a byte a cell; every draw is made.
void advance_sand_byte_vectors(const Sand& sand, std::uint64_t generation, std::int64_t generations,
                               std::uint8_t* cells);

} // namespace runner
