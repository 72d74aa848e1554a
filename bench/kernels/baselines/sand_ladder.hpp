// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cuda_queue.hpp"
#include "kernels/sand/sand.hpp"

#include <cstdint>

namespace runner {

/// What benchmarks compare `advance_sand` to: the sand automaton on a GPU as it is usually
/// published, a byte a cell, rows × columns of them. All equal in result.
enum class SandBaseline {
    /// A thread a block, with branches; the state goes to the device and back every generation.
    naive,
    /// The same kernel; the state stays on the device.
    optimised,
    /// A thread a block, no branches, all draws made; the state stays on the device.
    block_branchless,
    /// A thread a cell, no branches, from a tile in shared memory: each cell's block four times.
    cell_branchless,
};

/// Takes the grid from `generation` to `generation` + `generations`, between `a`, which holds it at
/// first, and `b` (device memory). `host` is page-locked memory for the naive one: that many bytes.
/// Returns the buffer that holds the result.
std::uint8_t* advance_sand_baseline(CudaQueue& queue, SandBaseline baseline, const Sand& sand,
                                    std::uint64_t generation, std::int64_t generations,
                                    std::uint8_t* a, std::uint8_t* b, std::uint8_t* host);

} // namespace runner
