// SPDX-License-Identifier: BSD-3-Clause
#include "bench/kernels/baselines/sand_block.hpp"
#include "bench/kernels/baselines/sand_ladder.hpp"
#include "kernels/queue/launch.cuh"
#include "kernels/sand/sand_hash.hpp"

#include <utility>

namespace runner {
namespace {

using namespace sand_baseline;

/// One generation of a grid.
struct Generation {
    const std::uint8_t* in;
    std::uint8_t* out;
    std::int64_t rows;
    std::int64_t columns;
    int column_offset;
    int row_offset;
    std::uint32_t generation;
    std::uint32_t seed;
    Thresholds thresholds;
};

constexpr int wide = 32;
constexpr int high = 8;

/// Cells of the block at (x, y), which is whole within the grid.
__device__ Block load_block(const Generation& g, std::int64_t x, std::int64_t y) {
    const std::uint8_t* upper = g.in + y * g.columns + x;
    const std::uint8_t* lower = upper + g.columns;
    bool full = true;
    if (y + 2 < g.rows) {
        full = lower[g.columns] >= 1 && lower[g.columns + 1] >= 1;
    }
    return {upper[0], upper[1], lower[0], lower[1], full};
}

template <bool branches> __global__ void block_kernel(Generation g) {
    // Blocks that stick out of the grid do not exist: what they have of it stays.
    const std::int64_t x =
        2 * (static_cast<std::int64_t>(blockIdx.x) * wide + threadIdx.x) - g.column_offset;
    const std::int64_t y =
        2 * (static_cast<std::int64_t>(blockIdx.y) * high + threadIdx.y) - g.row_offset;
    if (x >= 0 && y >= 0 && x + 1 < g.columns && y + 1 < g.rows) {
        Block block = load_block(g, x, y);
        const Place place{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                          g.generation, g.seed};
        if constexpr (branches) {
            step_with_branches(block, place, g.thresholds);
        } else {
            step_without_branches(block, place, g.thresholds);
        }
        std::uint8_t* upper = g.out + y * g.columns + x;
        std::uint8_t* lower = upper + g.columns;
        upper[0] = static_cast<std::uint8_t>(block.tl);
        upper[1] = static_cast<std::uint8_t>(block.tr);
        lower[0] = static_cast<std::uint8_t>(block.bl);
        lower[1] = static_cast<std::uint8_t>(block.br);
        return;
    }
    for (std::int64_t i = 0; i < 4; ++i) {
        const std::int64_t cx = x + i % 2;
        const std::int64_t cy = y + i / 2;
        if (cx >= 0 && cy >= 0 && cx < g.columns && cy < g.rows) {
            g.out[cy * g.columns + cx] = g.in[cy * g.columns + cx];
        }
    }
}

/// The tile holds a cell more at the left and above and two more at the right and below; beyond the
/// grid stand walls.
__global__ void cell_kernel(Generation g) {
    constexpr int tile_wide = wide + 3;
    constexpr int tile_high = high + 3;
    __shared__ std::uint8_t tile[tile_high][tile_wide];
    const std::int64_t x0 = static_cast<std::int64_t>(blockIdx.x) * wide;
    const std::int64_t y0 = static_cast<std::int64_t>(blockIdx.y) * high;
    for (int i = static_cast<int>(threadIdx.y * wide + threadIdx.x); i < tile_wide * tile_high;
         i += wide * high) {
        const std::int64_t x = x0 + i % tile_wide - 1;
        const std::int64_t y = y0 + i / tile_wide - 1;
        const bool inside = x >= 0 && y >= 0 && x < g.columns && y < g.rows;
        tile[i / tile_wide][i % tile_wide] = inside ? g.in[y * g.columns + x] : std::uint8_t{3};
    }
    __syncthreads();
    const std::int64_t x = x0 + threadIdx.x;
    const std::int64_t y = y0 + threadIdx.y;
    if (x >= g.columns || y >= g.rows) {
        return;
    }
    const int right = static_cast<int>((x + g.column_offset) & 1);
    const int below = static_cast<int>((y + g.row_offset) & 1);
    const std::int64_t bx = x - right;
    const std::int64_t by = y - below;
    const int tx = static_cast<int>(threadIdx.x) + 1 - right;
    const int ty = static_cast<int>(threadIdx.y) + 1 - below;
    const bool exists = bx >= 0 && by >= 0 && bx + 1 < g.columns && by + 1 < g.rows;
    Block block{tile[ty][tx], tile[ty][tx + 1], tile[ty + 1][tx], tile[ty + 1][tx + 1],
                tile[ty + 2][tx] >= 1 && tile[ty + 2][tx + 1] >= 1};
    const int own = tile[threadIdx.y + 1][threadIdx.x + 1];
    step_without_branches(
        block,
        {static_cast<std::uint32_t>(bx), static_cast<std::uint32_t>(by), g.generation, g.seed},
        g.thresholds);
    const int upper = right == 1 ? block.tr : block.tl;
    const int lower = right == 1 ? block.br : block.bl;
    g.out[y * g.columns + x] = static_cast<std::uint8_t>(!exists      ? own
                                                         : below == 1 ? lower
                                                                      : upper);
}

unsigned pieces(std::int64_t count, int size) {
    return static_cast<unsigned>((count + size - 1) / size);
}

void launch_generation(CudaQueue& queue, SandBaseline baseline, const Generation& g) {
    if (baseline == SandBaseline::cell_branchless) {
        launch(queue, {dim3(pieces(g.columns, wide), pieces(g.rows, high)), dim3(wide, high)},
               cell_kernel, g);
        return;
    }
    const LaunchShape shape{dim3(pieces((g.columns + 2) / 2, wide), pieces((g.rows + 2) / 2, high)),
                            dim3(wide, high)};
    launch(queue, shape,
           baseline == SandBaseline::block_branchless ? block_kernel<false> : block_kernel<true>,
           g);
}

} // namespace

std::uint8_t* advance_sand_baseline(CudaQueue& queue, SandBaseline baseline, const Sand& sand,
                                    std::uint64_t generation, std::int64_t generations,
                                    std::uint8_t* a, std::uint8_t* b, std::uint8_t* host) {
    const std::int64_t bytes = sand.rows * sand.columns;
    for (std::int64_t i = 0; i < generations; ++i, ++generation) {
        if (baseline == SandBaseline::naive && i > 0) {
            upload(queue, reinterpret_cast<std::byte*>(a), reinterpret_cast<const std::byte*>(host),
                   bytes);
        }
        launch_generation(queue, baseline,
                          {a, b, sand.rows, sand.columns, sand_column_offset(generation),
                           sand_row_offset(generation), static_cast<std::uint32_t>(generation),
                           sand.seed, thresholds_of(sand)});
        if (baseline == SandBaseline::naive) {
            download(queue, reinterpret_cast<std::byte*>(host),
                     reinterpret_cast<const std::byte*>(b), bytes);
            queue.synchronize();
        }
        std::swap(a, b);
    }
    return a;
}

} // namespace runner
