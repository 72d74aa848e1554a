// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/window_means.hpp"

#include "kernels/denoise/window_means_call.hpp"
#include "kernels/denoise/window_means_tile.cuh"
#include "kernels/queue/block_memory.cuh"
#include "kernels/queue/launch_parts.cuh"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace runner {
namespace {

namespace cuda = window_cuda;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Blocks along y and x, and what of the volume one makes.
struct Tiles {
    std::int64_t y;
    std::int64_t x;
    int high;
    int wide;
};

template <int pz, int py, int px, cuda::Source source>
__global__ void __launch_bounds__(cuda::threads_of(pz, py))
    means_kernel(const __grid_constant__ WindowCall call, const __grid_constant__ Tiles tiles,
                 std::int64_t first_tile, const float* volume, float* out) {
    const std::int64_t tile = first_tile + blockIdx.x;
    const auto layer = static_cast<int>(tile / tiles.x / tiles.y) * cuda::layers_of(pz);
    const cuda::Corner corner{static_cast<int>(call.held.first) + layer - (pz - 1),
                              static_cast<int>(tile / tiles.x % tiles.y) * tiles.high,
                              static_cast<int>(tile % tiles.x) * tiles.wide};
    cuda::Thread<pz, py, px, source> thread(call, corner, volume,
                                            reinterpret_cast<float*>(dynamic_shared()));
    const auto half_z = static_cast<int>(call.half[0]);
    const auto half_y = static_cast<int>(call.half[1]);
    const auto half_x = static_cast<int>(call.half[2]);
    for (int z = 0; z <= half_z; ++z) {
        for (int y = z == 0 ? 0 : -half_y; y <= half_y; ++y) {
            for (int x = z == 0 && y == 0 ? 0 : -half_x; x <= half_x; ++x) {
                const int signs = z == 0 && y == 0 && x == 0 ? 1 : 2;
#pragma unroll 1
                for (int i = 0; i < signs; ++i) {
                    const int sign = i == 0 ? 1 : -1;
                    thread.visit(sign * z, sign * y, sign * x);
                }
            }
        }
    }
    thread.put(out);
}

template <int pz, int py, int px, cuda::Source source>
void launch_means(CudaQueue& queue, const WindowCall& call, const float* volume, float* out) {
    Tiles tiles{};
    tiles.high = cuda::rows - 2 * (call.patch[1] - 1);
    tiles.wide = cuda::lanes - 2 * (call.patch[2] - 1);
    // The first tile makes what is before its middle too, and the last what is behind.
    const auto tiles_of = [](std::int64_t volume, std::int64_t all, std::int64_t each) {
        return std::max<std::int64_t>(ceil_divide(volume - (all - each), each), 1);
    };
    tiles.y = tiles_of(call.volume[1], cuda::rows, tiles.high);
    tiles.x = tiles_of(call.volume[2], cuda::lanes, tiles.wide);
    const std::int64_t deep = ceil_divide(call.held.layers, cuda::layers_of(pz));
    const auto voxels = static_cast<double>(call.held.layers * call.volume[1] * call.volume[2]);
    const LaunchParts parts{deep * tiles.y * tiles.x, 1, voxels * call.operations()};
    std::size_t shared = sizeof(float) * cuda::sum_floats(pz, py);
    if constexpr (source == cuda::Source::copy) {
        shared += sizeof(float) * cuda::copied_floats(pz, static_cast<int>(call.half[0]));
    }
    launch_parts(queue, parts, [&](std::int64_t first, std::int64_t count) {
        launch(queue, {dim3(static_cast<unsigned>(count)), dim3(cuda::threads_of(pz, py)), shared},
               means_kernel<pz, py, px, source>, call, tiles, first, volume, out);
    });
}

/// The kernel of any patch that is so deep.
template <int pz>
void launch_any(CudaQueue& queue, const WindowCall& call, const float* volume, float* out) {
    if (call.patch[0] == pz) {
        launch_means<pz, 0, 0, cuda::Source::volume>(queue, call, volume, out);
    } else if constexpr (pz < Match::max_patch) {
        launch_any<pz + 1>(queue, call, volume, out);
    }
}

/// A kernel of its own where there is one for the patch; `copies`: two, one for windows whose
/// voxels a block copies.
template <int pz, int py, int px, bool copies = true>
bool launch_if(CudaQueue& queue, const WindowCall& call, const float* volume, float* out) {
    if (call.weight.is_step || call.is_huge || call.patch[0] != pz || call.patch[1] != py ||
        call.patch[2] != px) {
        return false;
    }
    bool fits = copies;
    for (int axis = 0; axis < 3; ++axis) {
        fits = fits && call.half[axis] <= cuda::most_half(pz, axis);
    }
    if (!fits) {
        launch_means<pz, py, px, cuda::Source::volume>(queue, call, volume, out);
    } else if constexpr (copies) {
        launch_means<pz, py, px, cuda::Source::copy>(queue, call, volume, out);
    }
    return true;
}

} // namespace

void tile_window_means(CudaQueue& queue, const WindowCall& call, const float* volume, float* out) {
    const bool done = launch_if<3, 3, 3, false>(queue, call, volume, out) ||
                      launch_if<5, 5, 5>(queue, call, volume, out) ||
                      launch_if<1, 3, 3>(queue, call, volume, out) ||
                      launch_if<1, 5, 5>(queue, call, volume, out) ||
                      launch_if<1, 7, 7>(queue, call, volume, out);
    if (!done) {
        launch_any<1>(queue, call, volume, out);
    }
}

void window_means(CudaQueue& queue, const Match& match, const WindowMeans& means,
                  const HeldLayers& in, const float* volume, const HeldLayers& held, float* out) {
    const WindowCall call = make_window_call(match, means, in, held);
    if (held.layers > 0 && !march_window_means(queue, call, volume, out)) {
        tile_window_means(queue, call, volume, out);
    }
}

} // namespace runner
