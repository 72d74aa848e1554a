// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/match.hpp"

#include "kernels/match/dense/match_dense.cuh"
#include "kernels/match/match_call.hpp"
#include "kernels/queue/launch.cuh"
#include "kernels/queue/launch_parts.cuh"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace runner {
namespace {

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

/// Planes of sums, where they fit a block's shared memory; whether they do.
template <class S, int pz, int py, int px, int slots>
bool match_dense(CudaQueue& queue, const MatchCall& call, const float* volume,
                 const MatchLists& lists) {
    int most = 0;
    cuda_call([&] {
        return cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                      queue.device());
    });
    const auto bytes = [&](int warps_z, int wide) {
        return std::int64_t{4} *
                   match_cuda::DenseTile::of<S>(call, warps_z, wide).template floats<S>() +
               std::int64_t{4} * S::room_words * 32 * S::warps_y * warps_z;
    };
    int warps_z = S::most_warps_z;
    while (warps_z > 0 && bytes(warps_z, 32) > most) {
        --warps_z;
    }
    // Numbers of candidates take at most 16 bits of a short key.
    if (warps_z == 0 || call.candidates() > 65536) {
        return false;
    }
    match_cuda::DenseTiles tiles{ceil_divide(call.grid[2], 32 - (px - 1)),
                                 ceil_divide(call.grid[1], S::tile_y),
                                 ceil_divide(call.grid[0], warps_z * S::each_z), 0};
    std::int64_t shared = bytes(warps_z, 32);
    const std::int64_t rest = call.grid[2] % (32 - (px - 1));
    if (rest > 0 && rest <= 16 - (px - 1) && bytes(warps_z, 16) <= most) {
        tiles.x -= 1;
        tiles.narrow_y = ceil_divide(tiles.y, 2);
        shared = std::max(tiles.x > 0 ? shared : std::int64_t{0}, bytes(warps_z, 16));
    }
    const std::int64_t blocks = tiles.blocks();
    const dim3 threads(static_cast<unsigned>(32 * S::warps_y * warps_z));
    const double operations =
        static_cast<double>(call.rows()) * call.operations(MatchSelection::fast);
    const LaunchParts parts{blocks, 1, operations};
    const auto window = [&](int axis) { return static_cast<std::uint32_t>(call.window(axis)); };
    const auto keys = match_cuda::ShortKeys::of(call.candidates());
    const match_cuda::DenseSearch search{
        keys, 0, make_divisor(window(2)), make_divisor(window(1) * window(2)),
        keys.key(std::bit_cast<std::uint32_t>(call.most), keys.numbers) + 1};
    launch_parts(queue, parts, [&](std::int64_t first, std::int64_t count) {
        launch(queue,
               {dim3(static_cast<unsigned>(count)), threads, static_cast<std::size_t>(shared),
                match_cuda::match_kernel_work(call, operations)
                    .share(static_cast<double>(count) / static_cast<double>(blocks))},
               match_cuda::dense_kernel<S, pz, py, px, slots>, call, search, tiles, first, volume,
               lists);
    });
    return true;
}

/// The same for the patches that have such a kernel.
template <int slots>
bool match_dense(CudaQueue& queue, const MatchCall& call, const float* volume,
                 const MatchLists& lists) {
    using Image = match_cuda::ImageShape<slots>;
    const auto is = [&](int z, int y, int x) {
        return call.patch[0] == z && call.patch[1] == y && call.patch[2] == x;
    };
    if (is(3, 3, 3)) {
        return match_dense<match_cuda::VolumeShape<slots, 3>, 3, 3, 3, slots>(queue, call, volume,
                                                                              lists);
    }
    if (is(5, 5, 5)) {
        return match_dense<match_cuda::VolumeShape<slots, 5>, 5, 5, 5, slots>(queue, call, volume,
                                                                              lists);
    }
    if (is(1, 3, 3)) {
        return match_dense<Image, 1, 3, 3, slots>(queue, call, volume, lists);
    }
    if (is(1, 5, 5)) {
        return match_dense<Image, 1, 5, 5, slots>(queue, call, volume, lists);
    }
    if (is(1, 7, 7)) {
        return match_dense<Image, 1, 7, 7, slots>(queue, call, volume, lists);
    }
    return false;
}

bool match_dense(CudaQueue& queue, const MatchCall& call, const float* volume,
                 const MatchLists& lists) {
    bool done = false;
    with_slots(call.count, [&](auto slots) {
        done = match_dense<decltype(slots)::value>(queue, call, volume, lists);
    });
    return done;
}

} // namespace

void match_patches(CudaQueue& queue, const Match& match, const MatchLayers& layers,
                   const float* volume, const MatchLists& lists) {
    const MatchCall call = make_match_call(match, layers);
    if (call.rows() == 0) {
        return;
    }
    if (match.selection != MatchSelection::fast) {
        match_published(queue, match.selection, call, volume, lists);
    } else if ((call.step != 1 || !match_dense(queue, call, volume, lists)) &&
               !match_tensor(queue, call, volume, lists)) {
        match_sparse(queue, call, volume, lists);
    }
}

namespace {

constexpr int threads = 256;

/// A thread a word of the rows, since whole indices are not aligned in them.
__global__ void pack_kernel(std::int64_t words, int count, MatchLists lists, std::uint32_t* out) {
    const auto* index = reinterpret_cast<const std::uint32_t*>(lists.index);
    const std::int64_t a_row = 3 * static_cast<std::int64_t>(count) + 1;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < words;
         i += step) {
        const std::int64_t row = i / a_row;
        const std::int64_t word = i % a_row;
        if (word < 2 * count) {
            out[i] = index[2 * row * count + word];
        } else if (word < 3 * count) {
            out[i] = __float_as_uint(lists.distance[row * count + word - 2 * count]);
        } else {
            out[i] = static_cast<std::uint32_t>(lists.count[row]);
        }
    }
}

} // namespace

void pack_match_rows(CudaQueue& queue, std::int64_t rows, int count, const MatchLists& lists,
                     std::byte* out) {
    constexpr std::int64_t most_blocks = 1 << 16;
    const std::int64_t words = rows * match_row_bytes(count) / 4;
    if (words > 0) {
        const std::int64_t blocks = std::min(most_blocks, (words + threads - 1) / threads);
        launch(queue, {dim3(static_cast<unsigned>(blocks)), dim3(threads)}, pack_kernel, words,
               count, lists, reinterpret_cast<std::uint32_t*>(out));
    }
}

} // namespace runner
