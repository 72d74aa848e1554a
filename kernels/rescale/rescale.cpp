// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/rescale/rescale.hpp"

#include "kernels/elements/elements.hpp"
#include "kernels/rescale/rescale_values.hpp"

#include <algorithm>
#include <array>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {

void rescale(CpuQueue& queue, const Rescale& rescale, std::int64_t count, const std::byte* in,
             std::byte* out) {
    constexpr std::int64_t piece = 2048; // of float64: half of the L1 cache
    const std::int64_t in_bytes = size_of(rescale.in_type);
    const std::int64_t out_bytes = size_of(rescale.out_type);
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, (count + piece - 1) / piece, 16), [&](const Range& pieces) {
            alignas(64) std::array<double, piece> values;
            for (std::int64_t i = pieces.begin(); i < pieces.end(); ++i) {
                const std::int64_t first = i * piece;
                const std::int64_t n = std::min(piece, count - first);
                load_elements(rescale.in_type, in + first * in_bytes, n, values.data());
                rescale_values(rescale, n, values.data());
                store_elements(rescale.out_type, values.data(), n, out + first * out_bytes);
            }
        });
    });
}

} // namespace runner
