// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match.hpp"

#include "kernels/launch.cuh"
#include "kernels/match_dense.cuh"
#include "kernels/match_published.hpp"
#include "kernels/match_sparse.cuh"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace runner {
namespace {

using match_cuda::DenseTile;

constexpr std::int64_t most_blocks = std::numeric_limits<std::int32_t>::max();

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Slots of a list that has `count` matches.
template <class F> void with_slots(int count, const F& f) {
    if (count <= 8) {
        f(std::integral_constant<int, 8>{});
    } else if (count <= 16) {
        f(std::integral_constant<int, 16>{});
    } else if (count <= 32) {
        f(std::integral_constant<int, 32>{});
    } else {
        f(std::integral_constant<int, 64>{});
    }
}

void match_sparse(CudaQueue& queue, const MatchWork& work, const float* volume,
                  const MatchLists& lists) {
    const std::int64_t blocks = ceil_divide(work.rows(), match_cuda::sparse_threads);
    with_slots(work.count, [&](auto slots) {
        for (std::int64_t first = 0; first < blocks; first += most_blocks) {
            const auto count = static_cast<unsigned>(std::min(most_blocks, blocks - first));
            launch(queue, {dim3(count), dim3(match_cuda::sparse_threads)},
                   match_cuda::sparse_kernel<decltype(slots)::value>, work, first, volume, lists);
        }
    });
}

/// Planes of sums, where they fit a block's shared memory; whether they do.
template <class S, int pz, int py, int px>
bool match_dense(CudaQueue& queue, const MatchWork& work, const float* volume,
                 const MatchLists& lists) {
    int most = 0;
    cuda_call([&] {
        return cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                      queue.device());
    });
    // Numbers of candidates are kept in 16 bits.
    if (work.candidates() > 65536) {
        return false;
    }
    const std::int64_t bytes = std::int64_t{4} * DenseTile::of<S>(work).floats();
    if (bytes + S::gathered_bytes > most) {
        return false;
    }
    const std::int64_t tiles_x = ceil_divide(work.grid[2], 32 - (px - 1));
    const std::int64_t tiles_y = ceil_divide(work.grid[1], S::tile_y);
    const std::int64_t blocks = tiles_x * tiles_y * ceil_divide(work.grid[0], S::tile_z);
    with_slots(work.count, [&](auto slots) {
        for (std::int64_t first = 0; first < blocks; first += most_blocks) {
            const auto count = static_cast<unsigned>(std::min(most_blocks, blocks - first));
            launch(queue,
                   {dim3(count), dim3(S::threads),
                    static_cast<std::size_t>(bytes + S::gathered_bytes)},
                   match_cuda::dense_kernel<S, pz, py, px, decltype(slots)::value>, work, tiles_x,
                   tiles_y, first, volume, lists);
        }
    });
    return true;
}

/// The same for the patches that have such a kernel.
bool match_dense(CudaQueue& queue, const MatchWork& work, const float* volume,
                 const MatchLists& lists) {
    using match_cuda::ImageShape;
    using match_cuda::VolumeShape;
    const auto is = [&](int z, int y, int x) {
        return work.patch[0] == z && work.patch[1] == y && work.patch[2] == x;
    };
    if (is(3, 3, 3)) {
        return match_dense<VolumeShape, 3, 3, 3>(queue, work, volume, lists);
    }
    if (is(5, 5, 5)) {
        return match_dense<VolumeShape, 5, 5, 5>(queue, work, volume, lists);
    }
    if (is(1, 3, 3)) {
        return match_dense<ImageShape, 1, 3, 3>(queue, work, volume, lists);
    }
    if (is(1, 5, 5)) {
        return match_dense<ImageShape, 1, 5, 5>(queue, work, volume, lists);
    }
    if (is(1, 7, 7)) {
        return match_dense<ImageShape, 1, 7, 7>(queue, work, volume, lists);
    }
    return false;
}

} // namespace

void match_patches(CudaQueue& queue, const Match& match, const MatchLayers& layers,
                   const float* volume, const MatchLists& lists) {
    const MatchWork work = make_match_work(match, layers);
    if (work.rows() == 0) {
        return;
    }
    if (match.selection != MatchSelection::fast) {
        match_published(queue, match.selection, work, volume, lists);
    } else if (work.step != 1 || work.grid[1] != work.corner[1] + 1 ||
               !match_dense(queue, work, volume, lists)) {
        match_sparse(queue, work, volume, lists);
    }
}

} // namespace runner
