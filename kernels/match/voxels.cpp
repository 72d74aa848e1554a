// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/voxels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

template <class In, class Out, class Change>
void change_all(CpuQueue& queue, std::int64_t count, const In* in, Out* out, const Change& change) {
    constexpr std::int64_t block = 1 << 14;
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, count, block), [&](const Range& range) {
            std::transform(in + range.begin(), in + range.end(), out + range.begin(), change);
        });
    });
}

} // namespace

void voxels_to_float(CpuQueue& queue, ElementType type, std::int64_t count, const std::byte* in,
                     float* out) {
    visit_voxel_type(type, [&](auto zero) {
        using T = decltype(zero);
        change_all(queue, count, reinterpret_cast<const T*>(in), out,
                   [](T value) { return static_cast<float>(value); });
    });
}

void voxels_from_float(CpuQueue& queue, ElementType type, std::int64_t count, const float* in,
                       std::byte* out) {
    visit_voxel_type(type, [&](auto zero) {
        using T = decltype(zero);
        change_all(queue, count, in, reinterpret_cast<T*>(out), [](float value) {
            if constexpr (std::is_floating_point_v<T>) {
                return value;
            } else {
                constexpr auto most = static_cast<float>(std::numeric_limits<T>::max());
                return static_cast<T>(std::nearbyint(std::clamp(value, 0.0F, most)));
            }
        });
    });
}

void stabilise_counts(CpuQueue& queue, std::int64_t count, const float* in, float* out) {
    change_all(queue, count, in, out, [](float value) {
        return static_cast<float>(2 * std::sqrt(std::max(static_cast<double>(value) + 0.375, 0.0)));
    });
}

void restore_counts(CpuQueue& queue, std::int64_t count, const float* in, float* out) {
    change_all(queue, count, in, out, restored_count);
}

} // namespace runner
