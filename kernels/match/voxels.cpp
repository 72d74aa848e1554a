// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/voxels.hpp"

#include "kernels/elements/elements.hpp"
#include "kernels/match/voxels_element.hpp"

#include <algorithm>
#include <cmath>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// Calls `part` with the first element and the number of elements of every part.
template <class Part> void for_all(CpuQueue& queue, std::int64_t count, const Part& part) {
    constexpr std::int64_t block = 1 << 14;
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, count, block), [&](const Range& range) {
            part(range.begin(), range.end() - range.begin());
        });
    });
}

template <class Change>
void change_all(CpuQueue& queue, std::int64_t count, const float* in, float* out,
                const Change& change) {
    for_all(queue, count, [&](std::int64_t first, std::int64_t part) {
        std::transform(in + first, in + first + part, out + first, change);
    });
}

} // namespace

void voxels_to_float(CpuQueue& queue, ElementType type, std::int64_t count, const std::byte* in,
                     float* out) {
    for_all(queue, count, [&](std::int64_t first, std::int64_t part) {
        load_elements(type, in + first * size_of(type), part, out + first);
    });
}

void voxels_from_float(CpuQueue& queue, ElementType type, std::int64_t count, const float* in,
                       std::byte* out) {
    for_all(queue, count, [&](std::int64_t first, std::int64_t part) {
        store_elements(type, in + first, part, out + first * size_of(type));
    });
}

void scale_voxels(CpuQueue& queue, std::int64_t count, const float* in, int exponent, float* out) {
    change_all(queue, count, in, out, ScaledVoxel{std::ldexp(1.0, exponent)});
}

void stabilise_counts(CpuQueue& queue, std::int64_t count, const float* in, float* out) {
    change_all(queue, count, in, out, StabilisedCount());
}

void restore_counts(CpuQueue& queue, std::int64_t count, const float* in, float* out) {
    change_all(queue, count, in, out, RestoredCount());
}

} // namespace runner
