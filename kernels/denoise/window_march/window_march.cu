// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/window_means_call.hpp"

#include "kernels/denoise/window_march/window_march.cuh"
#include "kernels/queue/block_memory.cuh"
#include "kernels/queue/launch_parts.cuh"

#include <algorithm>

namespace runner {
namespace {

namespace march = window_march;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Blocks along y and x. What is before the first one's middle it makes too, and the last what is
/// behind.
struct Tiles {
    static constexpr int less = 2 * (march::patch - 1);
    static constexpr int high = march::rows - less;
    static constexpr int wide = march::lanes - less;

    std::int64_t y;
    std::int64_t x;
};

template <bool inside>
__device__ __forceinline__ void march_block(const WindowCall& call, const march::Corner& corner,
                                            const float* volume, float* out) {
    march::March<inside> thread(call, corner, volume, reinterpret_cast<float*>(dynamic_shared()));
    const auto half_z = static_cast<int>(call.half[0]);
    const auto half_y = static_cast<int>(call.half[1]);
    const auto half_x = static_cast<int>(call.half[2]);
    // 0, then each offset after 0 in the order z, y, x and −o behind it; visit() is compiled once.
    int z = 0;
    int y = 0;
    int x = 0;
    int sign = 1;
    while (true) {
        thread.visit(sign * z, sign * y, sign * x);
        if (sign == 1 && (z | y | x) != 0) {
            sign = -1;
            continue;
        }
        sign = 1;
        if (++x > half_x) {
            x = -half_x;
            if (++y > half_y) {
                y = -half_y;
                if (++z > half_z) {
                    break;
                }
            }
        }
    }
    thread.end();
    thread.put(out);
}

__global__ void __launch_bounds__(march::threads, 1)
    march_kernel(const __grid_constant__ WindowCall call, const __grid_constant__ Tiles tiles,
                 std::int64_t first_tile, const float* volume, float* out) {
    const std::int64_t tile = first_tile + blockIdx.x;
    const auto layer = static_cast<int>(tile / tiles.x / tiles.y) * march::layers;
    const march::Corner corner{static_cast<int>(call.held.first) + layer - (march::patch - 1),
                               static_cast<int>(tile / tiles.x % tiles.y) * Tiles::high,
                               static_cast<int>(tile % tiles.x) * Tiles::wide};
    if (march::is_inside(call, corner)) {
        march_block<true>(call, corner, volume, out);
    } else {
        march_block<false>(call, corner, volume, out);
    }
}

} // namespace

bool march_window_means(CudaQueue& queue, const WindowCall& call, const float* volume, float* out) {
    bool fits = !call.weight.is_step && !call.is_huge;
    for (int axis = 0; axis < 3; ++axis) {
        fits = fits && call.patch[axis] == march::patch && call.half[axis] <= march::most_half;
    }
    if (!fits) {
        return false;
    }
    const auto tiles_of = [](std::int64_t volume, std::int64_t each) {
        return std::max<std::int64_t>(ceil_divide(volume - Tiles::less, each), 1);
    };
    const Tiles tiles{tiles_of(call.volume[1], Tiles::high), tiles_of(call.volume[2], Tiles::wide)};
    const std::int64_t deep = ceil_divide(call.held.layers, march::layers);
    const auto voxels = static_cast<double>(call.held.layers * call.volume[1] * call.volume[2]);
    const LaunchParts parts{deep * tiles.y * tiles.x, 1, voxels * call.operations()};
    const std::size_t shared =
        sizeof(float) *
        (march::handed_floats + march::copied_floats(static_cast<int>(call.half[0])));
    launch_parts(queue, parts, [&](std::int64_t first, std::int64_t count) {
        launch(queue, {dim3(static_cast<unsigned>(count)), dim3(march::threads), shared},
               march_kernel, call, tiles, first, volume, out);
    });
    return true;
}

} // namespace runner
