// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/denoise_bm4d.hpp"

#include "kernels/denoise/denoise_bm4d_any.cuh"
#include "kernels/denoise/denoise_bm4d_cube_kernel.cuh"
#include "kernels/denoise/denoise_nlm.hpp"
#include "kernels/queue/launch.cuh"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace runner {
namespace {

using bm4d_cuda::Groups;
using bm4d_cuda::Pass;

constexpr std::int64_t most_blocks = std::numeric_limits<std::int32_t>::max();

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Calls `one` with the first and the number of blocks of each launch.
template <class One> void launch_all(std::int64_t blocks, const One& one) {
    for (std::int64_t first = 0; first < blocks; first += most_blocks) {
        one(first, static_cast<unsigned>(std::min(most_blocks, blocks - first)));
    }
}

/// The work of all groups: a patch is read and added to the sums.
KernelWork group_work(const Bm4dCall& call) {
    const auto rows = static_cast<double>(call.match.rows());
    const double values = rows * static_cast<double>(call.patch_voxels) * call.match.count;
    return {values * (sizeof(float) + sizeof(std::int64_t)), rows * call.operations()};
}

template <int group> void add_cubes(CudaQueue& queue, const Bm4dCall& call, const Groups& groups) {
    constexpr int warps = bm4d_cuda::Cube<group>::warps;
    launch_all(ceil_divide(call.match.rows(), warps), [&](std::int64_t first, unsigned blocks) {
        const double part =
            static_cast<double>(blocks) * warps / static_cast<double>(call.match.rows());
        const LaunchShape shape{dim3(blocks), dim3(32 * warps), 0,
                                group_work(call).share(std::min(1.0, part))};
        if (groups.volumes.first != nullptr) {
            launch(queue, shape, bm4d_cuda::cube_kernel<group, Pass::wiener>, call, first, groups);
        } else {
            launch(queue, shape, bm4d_cuda::cube_kernel<group, Pass::hard>, call, first, groups);
        }
    });
}

/// Adds the groups for which there is a kernel of its own; their size, or one that none has.
int add_usual(CudaQueue& queue, const Bm4dCall& call, const Groups& groups) {
    constexpr int none = Match::max_count + 1;
    const int* patch = call.match.patch;
    if (patch[0] != 4 || patch[1] != 4 || patch[2] != 4) {
        return none;
    }
    const int group = bm4d_group(call.match.count);
    switch (group) {
    case 8: add_cubes<8>(queue, call, groups); return group;
    case 16: add_cubes<16>(queue, call, groups); return group;
    case 32: add_cubes<32>(queue, call, groups); return group;
    default: return none;
    }
}

void add_others(CudaQueue& queue, const Bm4dCall& call, const Groups& groups, int least) {
    // Few are left where there is a kernel for most.
    const int each = least > Match::max_count ? 1 : 64;
    const std::int64_t values = call.patch_voxels * bm4d_group(call.match.count);
    const std::int64_t bytes = bm4d_cuda::AnyGroup::shared_bytes(values, groups.volumes);
    launch_all(ceil_divide(call.match.rows(), each), [&](std::int64_t first, unsigned blocks) {
        const LaunchShape shape{dim3(blocks), dim3(bm4d_cuda::AnyGroup::threads),
                                static_cast<std::size_t>(bytes)};
        launch(queue, shape, bm4d_cuda::any_kernel, call, first, each, least, groups);
    });
}

constexpr int finish_threads = 256;

__global__ void __launch_bounds__(finish_threads)
    finish_kernel(Bm4dCall call, std::int64_t first_block, std::int64_t voxels, Bm4dSums sums,
                  float* out) {
    const std::int64_t i = (first_block + blockIdx.x) * finish_threads + threadIdx.x;
    if (i >= voxels) {
        return;
    }
    const MatchCall& match = call.match;
    const std::int64_t x = i % match.volume[2];
    const std::int64_t y = i / match.volume[2] % match.volume[1];
    const std::int64_t z = i / match.volume[2] / match.volume[1];
    std::int64_t weight = 0;
    for (int pz = 0; pz < match.patch[0]; ++pz) {
        for (int py = 0; py < match.patch[1] && py <= y; ++py) {
            const std::int64_t* from = sums.weights + match.index(z + pz, y - py, x);
            std::int64_t line = 0;
            for (int px = 0; px < match.patch[2] && px <= x; ++px) {
                line += bm4d_window(px, match.patch[2]) * __ldg(from - px);
            }
            weight += bm4d_window(pz, match.patch[0]) * bm4d_window(py, match.patch[1]) * line;
        }
    }
    out[i] = call.mean(sums.values[i], weight);
}

} // namespace

void clear_bm4d_sums(CudaQueue& queue, const Match& match, const HeldLayers& held,
                     const Bm4dSums& sums) {
    clear_nlm_sums(queue, held.layers * match.volume[1] * match.volume[2], sums.values);
    clear_nlm_sums(queue, bm4d_weights(match, held), sums.weights);
}

void add_bm4d_estimates(CudaQueue& queue, const Match& match, const MatchLayers& layers,
                        const Bm4d& bm4d, const Bm4dVolumes& volumes, const MatchLists& lists,
                        const HeldLayers& held, const Bm4dSums& sums) {
    const Bm4dCall call = make_bm4d_call(match, layers, bm4d, held);
    if (call.match.rows() == 0) {
        return;
    }
    const Groups groups{volumes, lists, sums};
    add_others(queue, call, groups, add_usual(queue, call, groups));
    queue.count(static_cast<double>(call.match.rows()) * call.operations());
}

void finish_bm4d(CudaQueue& queue, const Match& match, const Bm4d& bm4d, const HeldLayers& held,
                 const Bm4dSums& sums, float* out) {
    const Bm4dCall call = make_bm4d_call(match, {}, bm4d, held);
    const std::int64_t voxels = held.layers * match.volume[1] * match.volume[2];
    launch_all(ceil_divide(voxels, finish_threads), [&](std::int64_t first, unsigned blocks) {
        launch(queue, {dim3(blocks), dim3(finish_threads)}, finish_kernel, call, first, voxels,
               sums, out);
    });
}

} // namespace runner
