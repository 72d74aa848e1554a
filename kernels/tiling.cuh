// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve_device.cuh"
#include "kernels/launch.cuh"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
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

/// Cuts the rows of `view` into segments, `columns_of_tiles` tiles each, which the device works on
/// `slots` at a time; each segment costs its rows and `overhead` more. Where there are enough rows,
/// one wave of long segments is followed by short ones that level out what the multiprocessors'
/// speeds differ by.
template <class T>
void cut_rows(ConvolveView<T>& view, std::int64_t overhead, std::int64_t columns_of_tiles,
              std::int64_t slots) {
    const std::int64_t rows = view.out_rows;
    const std::int64_t at_once = std::max<std::int64_t>(1, slots / columns_of_tiles);
    view.short_rows = std::max<std::int64_t>(128, 8 * overhead);
    view.long_rows = rows * 3 / 4 / at_once;
    view.long_segments = at_once;
    if (view.long_rows < 2 * view.short_rows) {
        view.long_segments = 0;
        view.short_rows = std::max<std::int64_t>(64, (rows + at_once - 1) / at_once);
    }
    const std::int64_t rest = rows - view.long_segments * view.long_rows;
    const std::int64_t short_segments = (rest + view.short_rows - 1) / view.short_rows;
    view.segments = view.long_segments + short_segments;
    if (const char* t = std::getenv("TUNE_LONG")) {
        view.long_segments = std::atoi(t);
        view.long_rows = std::atoi(std::getenv("TUNE_LONG_ROWS"));
        view.short_rows = std::atoi(std::getenv("TUNE_SHORT_ROWS"));
        view.segments =
            view.long_segments +
            (rows - view.long_segments * view.long_rows + view.short_rows - 1) / view.short_rows;
    }
}

/// Cuts the images in `arguments.view` into tiles of `width` columns and launches `kernel` over
/// them, one block of threads a tile.
template <class Arguments>
void launch_tiles(CudaQueue& queue, void (*kernel)(Arguments), int threads, int shared_bytes,
                  int width, int column_radius, std::int64_t frames, Arguments arguments) {
    auto& view = arguments.view;
    view.strips = (view.columns + width - 1) / width;
    cut_rows(view, std::int64_t{2} * column_radius, view.strips * frames,
             resident_blocks(queue, kernel, threads, shared_bytes));
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
