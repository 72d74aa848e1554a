// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve_channels.hpp"

#include "kernels/queue/launch.cuh"

#include <algorithm>

namespace runner {
namespace {

constexpr int threads = 256;

enum class Direction { split, join };

/// One thread a sample, in the order of the pixels: a warp's accesses to a plane lie side by side.
template <class T, Direction direction>
__global__ void channels_kernel(std::int64_t samples, std::int64_t pixels, int channels,
                                const T* from, T* to) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
         i < samples; i += step) {
        const std::int64_t all = i / channels; // pixels before it, in all frames
        const std::int64_t frame = all / pixels;
        const std::int64_t planar =
            (frame * channels + i % channels) * pixels + (all - frame * pixels);
        if constexpr (direction == Direction::split) {
            to[planar] = from[i];
        } else {
            to[i] = from[planar];
        }
    }
}

template <class T, Direction direction>
void move_as(CudaQueue& queue, const ChannelShape& shape, const std::byte* from, std::byte* to) {
    const std::int64_t samples = shape.frames * shape.pixels * shape.channels;
    if (samples == 0) {
        return;
    }
    constexpr std::int64_t most_blocks = 1 << 16;
    const std::int64_t blocks = std::min(most_blocks, (samples + threads - 1) / threads);
    const KernelWork work{2.0 * static_cast<double>(samples) * sizeof(T)};
    launch(queue, {dim3(static_cast<unsigned>(blocks)), dim3(threads), 0, work},
           channels_kernel<T, direction>, samples, shape.pixels, shape.channels,
           reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to));
}

template <Direction direction>
void move(CudaQueue& queue, const ChannelShape& shape, const std::byte* from, std::byte* to) {
    switch (shape.sample_bytes) {
    case 1: return move_as<std::uint8_t, direction>(queue, shape, from, to);
    case 2: return move_as<std::uint16_t, direction>(queue, shape, from, to);
    case 4: return move_as<std::uint32_t, direction>(queue, shape, from, to);
    default: return move_as<std::uint64_t, direction>(queue, shape, from, to);
    }
}

} // namespace

void split_channels(CudaQueue& queue, const ChannelShape& shape, const std::byte* pixels,
                    std::byte* planes) {
    move<Direction::split>(queue, shape, pixels, planes);
}

void join_channels(CudaQueue& queue, const ChannelShape& shape, const std::byte* planes,
                   std::byte* pixels) {
    move<Direction::join>(queue, shape, planes, pixels);
}

} // namespace runner
