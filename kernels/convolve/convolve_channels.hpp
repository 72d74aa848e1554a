// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cuda_queue.hpp"

#include <cstddef>
#include <cstdint>

namespace runner {

/// `frames` frames of `pixels` pixels each, `channels` samples of `sample_bytes` (1, 2, 4 or 8) to
/// a pixel.
struct ChannelShape {
    std::int64_t frames = 0;
    std::int64_t pixels = 0;
    int channels = 1;
    std::int64_t sample_bytes = 1;
};

/// Takes the channels of each frame apart: from [frame][pixel][channel] to [frame][channel][pixel].
/// Both are in device memory, aligned to a sample, and do not overlap. Returns before the work is
/// done.
void split_channels(CudaQueue& queue, const ChannelShape& shape, const std::byte* pixels,
                    std::byte* planes);

/// The reverse of split_channels().
void join_channels(CudaQueue& queue, const ChannelShape& shape, const std::byte* planes,
                   std::byte* pixels);

} // namespace runner
