// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve_device.cuh"
#include "kernels/queue/launch.cuh"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace runner::convolve_cuda {

/// Blocks of threads that the queue's whole device holds at once.
template <class... Parameters>
std::int64_t resident_blocks(CudaQueue& queue, void (*kernel)(Parameters...), int threads,
                             int shared_bytes) {
    queue.make_current();
    int per_multiprocessor = 0;
    int multiprocessors = 0;
    cuda_call([&] {
        return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    shared_bytes);
    });
    cuda_call([&] {
        return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &per_multiprocessor, kernel, threads, static_cast<std::size_t>(shared_bytes));
    });
    cuda_call([&] {
        return cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount,
                                      queue.device());
    });
    return std::max<std::int64_t>(1, std::int64_t{per_multiprocessor} * multiprocessors);
}

/// Kernels count the rows of a tile in 32 bits.
inline constexpr std::int64_t most_tile_rows = 1 << 30;

/// How rows are cut into segments: the share that long ones take, and the least rows of a short
/// one.
struct SegmentCut {
    std::int64_t long_percent;
    std::int64_t short_rows;
};

/// Measured on an H200: bound by memory, tiles differ more and short segments cost less.
template <class T> constexpr SegmentCut segment_cut(int column_radius) {
    return {column_radius <= (sizeof(T) == 4 ? 8 : 20) ? 70
            : column_radius <= 32                      ? 85
                                                       : 100,
            std::max<std::int64_t>(256, std::int64_t{8} * column_radius)};
}

/// As segment_cut(), for push kernels. float32 above radius 12 has shares instead.
template <class T> constexpr SegmentCut push_cut(int column_radius) {
    SegmentCut cut = segment_cut<T>(column_radius);
    if (sizeof(T) == 4 && column_radius > 8) {
        cut.long_percent = 80;
    }
    return cut;
}

/// Cuts the rows of `images` into segments, `columns_of_tiles` tiles each, which the device works
/// on `slots` at a time; a segment reads more rows than it makes, twice the columns' radius. Where
/// there are enough rows, one wave of long segments is followed by short ones that level out what
/// the multiprocessors differ by in speed.
template <class T>
void cut_rows(ConvolveImages<T>& images, const SegmentCut& cut, std::int64_t columns_of_tiles,
              std::int64_t slots) {
    const std::int64_t rows = images.out_rows;
    const std::int64_t at_once = std::max<std::int64_t>(1, slots / columns_of_tiles);
    const std::int64_t parts = 100 * at_once;
    images.long_rows = std::min(most_tile_rows, rows / parts * cut.long_percent +
                                                    rows % parts * cut.long_percent / parts + 1);
    images.long_segments = std::min(at_once, (rows + images.long_rows - 1) / images.long_rows);
    images.short_rows = cut.short_rows;
    if (images.long_rows < 2 * images.short_rows) {
        images.long_segments = 0;
        images.short_rows =
            std::clamp<std::int64_t>((rows + at_once - 1) / at_once, 64, images.short_rows * 2);
    }
    const std::int64_t rest =
        std::max<std::int64_t>(0, rows - images.long_segments * images.long_rows);
    images.segments = images.long_segments + (rest + images.short_rows - 1) / images.short_rows;
}

/// The tiling of `images` with elements of so many bytes, and so many taps on both axes
/// together.
template <class T>
KernelWork image_work(const ConvolveImages<T>& images, std::int64_t frames, std::int64_t in_bytes,
                      std::int64_t out_bytes, std::int64_t taps) {
    const auto samples = static_cast<double>(frames * images.columns);
    return {samples * static_cast<double>(images.in_rows * in_bytes + images.out_rows * out_bytes),
            2 * samples * static_cast<double>(images.out_rows * taps), sizeof(T) == sizeof(double)};
}

/// Cuts `call.images` into tiles of `width` columns and launches `kernel` over
/// them, one block of threads a tile; `work` is that of them all.
template <class Arguments>
void launch_tiles(CudaQueue& queue, void (*kernel)(Arguments), int threads, int shared_bytes,
                  int width, const SegmentCut& cut, std::int64_t frames, const KernelWork& work,
                  Arguments call) {
    auto& images = call.images;
    images.strips = (images.columns + width - 1) / width;
    cut_rows(images, cut, images.strips * frames,
             resident_blocks(queue, kernel, threads, shared_bytes));
    const std::int64_t tiles = images.strips * images.segments * frames;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    for (images.first_tile = 0; images.first_tile < tiles; images.first_tile += most) {
        const auto count = static_cast<unsigned>(std::min(most, tiles - images.first_tile));
        launch(queue,
               {dim3(count), dim3(static_cast<unsigned>(threads)),
                static_cast<std::size_t>(shared_bytes),
                work.share(static_cast<double>(count) / static_cast<double>(tiles))},
               kernel, call);
    }
}

/// As launch_tiles(), but every block that the device holds at once takes the same share of the
/// rows of all strips (for_tiles_of_share()). A tile costs `tile_cost` rows beyond its own.
template <class Arguments>
void launch_shares(CudaQueue& queue, void (*kernel)(Arguments), int threads, int shared_bytes,
                   int width, std::int64_t tile_cost, std::int64_t frames, const KernelWork& work,
                   Arguments call) {
    auto& images = call.images;
    const std::int64_t slots = resident_blocks(queue, kernel, threads, shared_bytes);
    images.strips = (images.columns + width - 1) / width;
    images.all_strips = images.strips * frames;
    images.tile_cost = tile_cost;
    const std::int64_t rows = images.all_strips * (tile_cost + images.out_rows);
    // A tile of fewer rows would cost more than it makes.
    images.share = std::min(most_tile_rows, std::max((rows + slots - 1) / slots, 2 * tile_cost));
    launch(queue,
           {dim3(static_cast<unsigned>((rows + images.share - 1) / images.share)),
            dim3(static_cast<unsigned>(threads)), static_cast<std::size_t>(shared_bytes), work},
           kernel, call);
}

} // namespace runner::convolve_cuda
