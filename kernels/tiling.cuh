// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve_device.cuh"
#include "kernels/launch.cuh"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace runner {

/// Blocks of threads that the queue's whole device holds at once.
template <class... Parameters>
std::int64_t resident_blocks(CudaQueue& queue, void (*kernel)(Parameters...), int threads,
                             int shared_bytes) {
    queue.make_current();
    int per_multiprocessor = 0;
    int multiprocessors = 0;
    cuda_check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
    cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &per_multiprocessor, kernel, threads, static_cast<std::size_t>(shared_bytes)));
    cuda_check(
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, queue.device()));
    return std::max<std::int64_t>(1, std::int64_t{per_multiprocessor} * multiprocessors);
}

/// Segments a column of `rows` is cut into so that `columns_of_tiles` of them, worked on `slots` at
/// a time, take the least time: each segment costs its rows and `overhead` more.
inline std::int64_t best_segments(std::int64_t rows, std::int64_t overhead,
                                  std::int64_t columns_of_tiles, std::int64_t slots) {
    std::int64_t best = 1;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    const std::int64_t most = std::clamp<std::int64_t>(rows / 16, 1, 1024);
    for (std::int64_t segments = 1; segments <= most; ++segments) {
        const std::int64_t segment_rows = (rows + segments - 1) / segments;
        const std::int64_t waves = (segments * columns_of_tiles + slots - 1) / slots;
        if (const std::int64_t cost = waves * (segment_rows + overhead); cost < least) {
            least = cost;
            best = segments;
        }
    }
    return best;
}

/// Cuts the images in `arguments.view` into tiles of `width` columns and launches `kernel` over
/// them, one block of threads a tile.
template <class Arguments>
void launch_tiles(CudaQueue& queue, void (*kernel)(Arguments), int threads, int shared_bytes,
                  int width, int column_radius, std::int64_t frames, Arguments arguments) {
    auto& view = arguments.view;
    view.strips = (view.columns + width - 1) / width;
    view.segments = best_segments(view.out_rows, 2 * column_radius + 16, view.strips * frames,
                                  resident_blocks(queue, kernel, threads, shared_bytes));
    view.segment_rows = (view.out_rows + view.segments - 1) / view.segments;
    view.segments = (view.out_rows + view.segment_rows - 1) / view.segment_rows;
    const std::int64_t tiles = view.strips * view.segments * frames;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    for (view.first_tile = 0; view.first_tile < tiles; view.first_tile += most) {
        const auto count = static_cast<unsigned>(std::min(most, tiles - view.first_tile));
        launch(queue,
               {dim3(count), dim3(static_cast<unsigned>(threads)),
                static_cast<std::size_t>(shared_bytes)},
               kernel, arguments);
    }
}

} // namespace runner
