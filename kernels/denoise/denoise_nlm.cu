// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/denoise_nlm.hpp"

#include "kernels/denoise/denoise_nlm_call.hpp"
#include "kernels/match/match_device.cuh"
#include "kernels/queue/block_memory.cuh"
#include "kernels/queue/divisor.hpp"
#include "kernels/queue/launch.cuh"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace runner {
namespace {

constexpr int threads = 128;
constexpr std::int64_t most_blocks = std::numeric_limits<std::int32_t>::max();

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

__device__ inline void add_estimate(const NlmCall& call, float sum, float weights,
                                    std::int64_t* to) {
    const std::int64_t units = __double2ll_rn(call.estimate(sum, weights));
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(units));
}

/// A thread a reference, neighbours along x in a warp.
__global__ void __launch_bounds__(threads)
    estimate_kernel(NlmCall call, std::int64_t first_block, const float* volume, MatchLists lists,
                    std::int64_t* sums) {
    __shared__ float weights[Match::max_count][threads];
    const MatchCall& match = call.match;
    const auto thread = static_cast<int>(threadIdx.x);
    const std::int64_t row = (first_block + blockIdx.x) * threads + thread;
    if (row >= match.rows()) {
        return;
    }
    const std::int64_t line = match.volume[2];
    const std::int64_t layer = match.volume[1] * line;
    const int matches = lists.count[row];
    const std::uint64_t* index = lists.index + row * match.count;
    float weight = 0;
    for (int i = 0; i < matches; ++i) {
        const float one = call.weight(lists.distance[row * match.count + i]);
        weights[i][thread] = one;
        weight = __fadd_rn(weight, one);
    }
    const std::int64_t at_z = match.reference(0, row / match.grid[2] / match.grid[1]);
    const std::int64_t place =
        match.index(at_z - call.held_first, match.reference(1, row / match.grid[2] % match.grid[1]),
                    match.reference(2, row % match.grid[2]));
    for (int pz = 0; pz < match.patch[0]; ++pz) {
        const std::int64_t held = at_z + pz - call.held_first;
        if (held < 0 || held >= call.held_layers) {
            continue;
        }
        for (int py = 0; py < match.patch[1]; ++py) {
            const std::int64_t within = pz * layer + py * line;
            float sum[Match::max_patch] = {};
            for (int i = 0; i < matches; ++i) {
                const float* from =
                    volume + static_cast<std::int64_t>(index[i]) - match.in_first * layer + within;
#pragma unroll
                for (int px = 0; px < Match::max_patch; ++px) {
                    if (px < match.patch[2]) {
                        sum[px] =
                            __fadd_rn(sum[px], __fmul_rn(weights[i][thread], __ldg(from + px)));
                    }
                }
            }
#pragma unroll
            for (int px = 0; px < Match::max_patch; ++px) {
                if (px < match.patch[2]) {
                    add_estimate(call, sum[px], weight, sums + place + within + px);
                }
            }
        }
    }
}

/// The part of the volume that a block's references (32 along x, by tile_y, by tile_z) and their
/// matches cover, where all are next to each other.
struct NlmTile {
    static constexpr int tile_y = 8;
    static constexpr int tile_z = 4;
    static constexpr int threads = 32 * tile_y;

    match_cuda::VoxelTile voxels;
    Divisor row; ///< voxels of a row and a layer of the volume
    Divisor layer;

    static NlmTile of(const MatchCall& match) {
        const auto covered = [&](int axis, int references) {
            return references - 1 + match.patch[axis] + static_cast<int>(2 * match.half[axis]);
        };
        return {{covered(2, 32), covered(1, tile_y), covered(0, tile_z)},
                make_divisor(static_cast<std::uint32_t>(match.volume[2])),
                make_divisor(static_cast<std::uint32_t>(match.volume[2] * match.volume[1]))};
    }

    /// Places within the tile's layers of the volume are divided as numbers below 2^31.
    static bool fits(const MatchCall& match) {
        const std::int64_t layers = tile_z + match.patch[0] + 2 * match.half[0];
        return match.step == 1 && match.volume[1] <= (1LL << 31) / match.volume[2] / layers;
    }
};

/// Weights of a reference's matches, and where their patches begin in the tile. Slots without one
/// weigh nothing, so they change no sum.
template <int slots> struct NlmMatches {
    float weight[slots];
    int place[slots];
    float total;

    __device__ void read(const NlmCall& call, const NlmTile& tile, const MatchLists& lists,
                         std::int64_t row, std::int64_t base, int low_z, int low_y, int low_x) {
        const int count = lists.count[row];
        const std::uint64_t* index = lists.index + row * call.match.count;
        const float* distance = lists.distance + row * call.match.count;
        total = 0;
#pragma unroll
        for (int i = 0; i < slots; ++i) {
            weight[i] = 0;
            place[i] = 0;
            if (i < count) {
                weight[i] = call.weight(distance[i]);
                const auto at =
                    static_cast<std::uint32_t>(static_cast<std::int64_t>(index[i]) - base);
                const Divided z = divide(at, tile.layer);
                const Divided y = divide(z.rest, tile.row);
                place[i] = ((static_cast<int>(z.quotient) - low_z) * tile.voxels.high +
                            static_cast<int>(y.quotient) - low_y) *
                               tile.voxels.wide +
                           static_cast<int>(y.rest) - low_x;
            }
            total = __fadd_rn(total, weight[i]);
        }
    }
};

/// Step 1: a thread a reference of each of the tile's layers, the volume's part in shared memory.
template <int px, int slots>
__global__ void __launch_bounds__(NlmTile::threads)
    estimate_tile_kernel(NlmCall call, NlmTile tile, std::int64_t tiles_x, std::int64_t tiles_y,
                         std::int64_t first_block, const float* volume, MatchLists lists,
                         std::int64_t* sums) {
    auto* voxels = reinterpret_cast<float*>(dynamic_shared());
    const MatchCall& match = call.match;
    const std::int64_t block = first_block + blockIdx.x;
    const std::int64_t tile_x = block % tiles_x * 32;
    const std::int64_t tile_y = block / tiles_x % tiles_y * NlmTile::tile_y;
    const std::int64_t tile_z = block / tiles_x / tiles_y * NlmTile::tile_z;
    const std::int64_t first_z = match.first + tile_z; // its layer and line in the volume
    const std::int64_t first_y = match.first_line + tile_y;
    const std::int64_t line = match.volume[2];
    const std::int64_t layer = match.volume[1] * line;
    match_cuda::read_voxels(match, tile.voxels, {first_z, first_y, tile_x}, 0, volume, voxels);
    __syncthreads();
    const std::int64_t x = tile_x + threadIdx.x % 32;
    const std::int64_t y = tile_y + threadIdx.x / 32;
    if (x >= match.grid[2] || y >= match.grid[1]) {
        return;
    }
    // The first layer of the volume that the tile can hold; places are counted from there.
    const std::int64_t base_z = max(first_z - match.half[0], std::int64_t{0});
    const auto low_z = static_cast<int>(first_z - match.half[0] - base_z);
    const auto low_y = static_cast<int>(first_y - match.half[1]);
    const auto low_x = static_cast<int>(tile_x - match.half[2]);
    for (int in_z = 0; in_z < NlmTile::tile_z && tile_z + in_z < match.grid[0]; ++in_z) {
        const std::int64_t row = ((tile_z + in_z) * match.grid[1] + y) * match.grid[2] + x;
        NlmMatches<slots> matches;
        matches.read(call, tile, lists, row, base_z * layer, low_z, low_y, low_x);
        for (int pz = 0; pz < match.patch[0]; ++pz) {
            const std::int64_t held = first_z + in_z + pz - call.held_first;
            if (held < 0 || held >= call.held_layers) {
                continue;
            }
            for (int py = 0; py < match.patch[1]; ++py) {
                const float* within = voxels + (pz * tile.voxels.high + py) * tile.voxels.wide;
                float sum[px] = {};
#pragma unroll
                for (int i = 0; i < slots; ++i) {
#pragma unroll
                    for (int k = 0; k < px; ++k) {
                        sum[k] = __fadd_rn(
                            sum[k], __fmul_rn(matches.weight[i], within[matches.place[i] + k]));
                    }
                }
                std::int64_t* to = sums + held * layer + (match.first_line + y + py) * line + x;
#pragma unroll
                for (int k = 0; k < px; ++k) {
                    add_estimate(call, sum[k], matches.total, to + k);
                }
            }
        }
    }
}

__global__ void __launch_bounds__(threads)
    clear_kernel(std::int64_t first_block, std::int64_t count, std::int64_t* sums) {
    const std::int64_t i = (first_block + blockIdx.x) * threads + threadIdx.x;
    if (i < count) {
        sums[i] = 0;
    }
}

__global__ void __launch_bounds__(threads)
    mean_kernel(NlmCall call, std::int64_t first_block, std::int64_t voxels,
                const std::int64_t* sums, float* out) {
    const std::int64_t i = (first_block + blockIdx.x) * threads + threadIdx.x;
    if (i >= voxels) {
        return;
    }
    const MatchCall& match = call.match;
    out[i] = call.mean(sums[i], call.held_first + i / match.volume[2] / match.volume[1],
                       i / match.volume[2] % match.volume[1], i % match.volume[2]);
}

template <class Launch> void launch_all(std::int64_t items, const Launch& one) {
    const std::int64_t blocks = ceil_divide(items, threads);
    for (std::int64_t first = 0; first < blocks; first += most_blocks) {
        one(first, LaunchShape{dim3(static_cast<unsigned>(std::min(most_blocks, blocks - first))),
                               dim3(threads)});
    }
}

/// The work of all references: their voxels and lists are read, the sums read and written, once.
KernelWork estimates_work(const NlmCall& call) {
    const MatchCall& match = call.match;
    const auto rows = static_cast<double>(match.rows());
    const auto voxels = static_cast<double>(match.in_layers * match.volume[1] * match.volume[2]);
    const double list = match.count * (sizeof(std::uint64_t) + sizeof(float));
    return {voxels * (sizeof(float) + 2 * sizeof(std::int64_t)) + rows * list,
            rows * call.operations()};
}

/// Tiles, where there is such a kernel and shared memory for it; whether there is.
template <int px, int slots>
bool add_by_tiles(CudaQueue& queue, const NlmCall& call, const float* volume,
                  const MatchLists& lists, std::int64_t* sums) {
    const NlmTile tile = NlmTile::of(call.match);
    int most = 0;
    cuda_call([&] {
        return cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                      queue.device());
    });
    const auto bytes = static_cast<std::size_t>(tile.voxels.floats()) * sizeof(float);
    if (bytes > static_cast<std::size_t>(most)) {
        return false;
    }
    const auto& grid = call.match.grid;
    const std::int64_t tiles_x = ceil_divide(grid[2], 32);
    const std::int64_t tiles_y = ceil_divide(grid[1], NlmTile::tile_y);
    const std::int64_t blocks = tiles_x * tiles_y * ceil_divide(grid[0], NlmTile::tile_z);
    for (std::int64_t first = 0; first < blocks; first += most_blocks) {
        const auto count = static_cast<unsigned>(std::min(most_blocks, blocks - first));
        const KernelWork part =
            estimates_work(call).share(static_cast<double>(count) / static_cast<double>(blocks));
        launch(queue, {dim3(count), dim3(NlmTile::threads), bytes, part},
               estimate_tile_kernel<px, slots>, call, tile, tiles_x, tiles_y, first, volume, lists,
               sums);
    }
    return true;
}

bool add_by_tiles(CudaQueue& queue, const NlmCall& call, const float* volume,
                  const MatchLists& lists, std::int64_t* sums) {
    const MatchCall& match = call.match;
    if (!NlmTile::fits(match) || match.count > 32) {
        return false;
    }
    const auto as = [&](auto px) {
        constexpr int wide = decltype(px)::value;
        return match.count <= 16 ? add_by_tiles<wide, 16>(queue, call, volume, lists, sums)
                                 : add_by_tiles<wide, 32>(queue, call, volume, lists, sums);
    };
    switch (match.patch[2]) {
    case 3: return as(std::integral_constant<int, 3>{});
    case 4: return as(std::integral_constant<int, 4>{});
    case 5: return as(std::integral_constant<int, 5>{});
    case 7: return as(std::integral_constant<int, 7>{});
    default: return false;
    }
}

} // namespace

void clear_nlm_sums(CudaQueue& queue, std::int64_t count, std::int64_t* sums) {
    launch_all(count, [&](std::int64_t first, const LaunchShape& shape) {
        launch(queue, shape, clear_kernel, first, count, sums);
    });
}

void add_nlm_estimates(CudaQueue& queue, const Match& match, const MatchLayers& layers,
                       const Nlm& nlm, const float* volume, const MatchLists& lists,
                       const HeldLayers& held, std::int64_t* sums) {
    const NlmCall call = make_nlm_call(match, layers, nlm, held);
    if (call.match.rows() == 0) {
        return;
    }
    if (!add_by_tiles(queue, call, volume, lists, sums)) {
        launch_all(call.match.rows(), [&](std::int64_t first, const LaunchShape& shape) {
            launch(queue, shape, estimate_kernel, call, first, volume, lists, sums);
        });
    }
    queue.count(static_cast<double>(call.match.rows()) * call.operations());
}

void finish_nlm(CudaQueue& queue, const Match& match, const Nlm& nlm, const HeldLayers& held,
                const std::int64_t* sums, float* out) {
    const NlmCall call = make_nlm_call(match, {}, nlm, held);
    const std::int64_t voxels = held.layers * match.volume[1] * match.volume[2];
    launch_all(voxels, [&](std::int64_t first, const LaunchShape& shape) {
        launch(queue, shape, mean_kernel, call, first, voxels, sums, out);
    });
}

} // namespace runner
