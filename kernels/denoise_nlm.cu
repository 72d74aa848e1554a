// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise_nlm.hpp"

#include "kernels/denoise_nlm_work.hpp"
#include "kernels/launch.cuh"

#include <algorithm>
#include <limits>

namespace runner {
namespace {

constexpr int threads = 128;
constexpr std::int64_t most_blocks = std::numeric_limits<std::int32_t>::max();

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// A thread a reference, neighbours along x in a warp.
__global__ void __launch_bounds__(threads)
    estimate_kernel(NlmWork work, std::int64_t first_block, const float* volume, MatchLists lists,
                    std::int64_t* sums) {
    __shared__ float weights[Match::max_count][threads];
    const MatchWork& match = work.match;
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
        const float one = work.weight(lists.distance[row * match.count + i]);
        weights[i][thread] = one;
        weight = __fadd_rn(weight, one);
    }
    const std::int64_t at_z = match.reference(0, row / match.grid[2] / match.grid[1]);
    const std::int64_t place =
        match.index(at_z - work.held_first, match.reference(1, row / match.grid[2] % match.grid[1]),
                    match.reference(2, row % match.grid[2]));
    for (int pz = 0; pz < match.patch[0]; ++pz) {
        const std::int64_t held = at_z + pz - work.held_first;
        if (held < 0 || held >= work.held_layers) {
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
                    const double mean = static_cast<double>(__fdiv_rn(sum[px], weight));
                    atomicAdd(reinterpret_cast<unsigned long long*>(sums + place + within + px),
                              static_cast<unsigned long long>(__double2ll_rn(mean * work.unit)));
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
    mean_kernel(NlmWork work, std::int64_t first_block, std::int64_t voxels,
                const std::int64_t* sums, float* out) {
    const std::int64_t i = (first_block + blockIdx.x) * threads + threadIdx.x;
    if (i >= voxels) {
        return;
    }
    const MatchWork& match = work.match;
    const std::int64_t covering =
        work.covering(work.held_first + i / match.volume[2] / match.volume[1],
                      i / match.volume[2] % match.volume[1], i % match.volume[2]);
    const double mean = static_cast<double>(sums[i]) / static_cast<double>(covering);
    out[i] = static_cast<float>(mean / work.unit);
}

template <class Launch> void launch_all(std::int64_t items, const Launch& one) {
    const std::int64_t blocks = ceil_divide(items, threads);
    for (std::int64_t first = 0; first < blocks; first += most_blocks) {
        one(first, LaunchShape{dim3(static_cast<unsigned>(std::min(most_blocks, blocks - first))),
                               dim3(threads)});
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
                       const NlmLayers& held, std::int64_t* sums) {
    const NlmWork work = make_nlm_work(match, layers, nlm, held);
    launch_all(work.match.rows(), [&](std::int64_t first, const LaunchShape& shape) {
        launch(queue, shape, estimate_kernel, work, first, volume, lists, sums);
    });
}

void finish_nlm(CudaQueue& queue, const Match& match, const Nlm& nlm, const NlmLayers& held,
                const std::int64_t* sums, float* out) {
    const NlmWork work = make_nlm_work(match, {}, nlm, held);
    const std::int64_t voxels = held.layers * match.volume[1] * match.volume[2];
    launch_all(voxels, [&](std::int64_t first, const LaunchShape& shape) {
        launch(queue, shape, mean_kernel, work, first, voxels, sums, out);
    });
}

} // namespace runner
