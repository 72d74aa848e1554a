// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/anscombe.hpp"

#include <algorithm>
#include <cmath>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

template <class Change>
void change_all(CpuQueue& queue, std::int64_t count, const float* in, float* out,
                const Change& change) {
    constexpr std::int64_t block = 1 << 14;
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, count, block), [&](const Range& range) {
            std::transform(in + range.begin(), in + range.end(), out + range.begin(), change);
        });
    });
}

} // namespace

void stabilise_counts(CpuQueue& queue, std::int64_t count, const float* in, float* out) {
    change_all(queue, count, in, out, [](float value) {
        return static_cast<float>(2 * std::sqrt(std::max(static_cast<double>(value) + 0.375, 0.0)));
    });
}

void restore_counts(CpuQueue& queue, std::int64_t count, const float* in, float* out) {
    change_all(queue, count, in, out, restored_count);
}

} // namespace runner
