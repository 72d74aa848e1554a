// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/window_means.hpp"

#include "base/rounding.hpp"
#include "kernels/denoise/window_means_tile.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {

void window_means(CpuQueue& queue, const Match& match, const WindowMeans& means,
                  const HeldLayers& in, const float* volume, const HeldLayers& held, float* out) {
    const WindowCall call = make_window_call(match, means, in, held);
    const std::int64_t extents[3] = {held.layers, match.volume[1], match.volume[2]};
    std::int64_t tiles[3];
    for (int i = 0; i < 3; ++i) {
        tiles[i] = ceil_divide(extents[i], window_tile[i]);
    }
    tbb::enumerable_thread_specific<WindowTileMemory> memories;
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, tiles[0] * tiles[1] * tiles[2], 1), [&](const Range& range) {
            for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                const std::int64_t at[3] = {i / tiles[2] / tiles[1], i / tiles[2] % tiles[1],
                                            i % tiles[2]};
                WindowBox tile{};
                for (int k = 0; k < 3; ++k) {
                    tile.first[k] = at[k] * window_tile[k];
                    tile.end[k] = std::min(tile.first[k] + window_tile[k], extents[k]);
                }
                tile.first[0] += held.first;
                tile.end[0] += held.first;
                window_means_tile(queue, call, tile, volume, out, memories.local());
            }
        });
    });
}

} // namespace runner
