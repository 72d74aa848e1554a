// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/match_rows.hpp"

#include "kernels/queue/launch.cuh"

#include <algorithm>

namespace runner {
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
