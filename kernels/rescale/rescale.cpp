// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/rescale/rescale.hpp"

#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rescale/rescale.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/queue/fused-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// How many of the values are below `low` or above `high`.
std::int64_t count_beyond(double low, double high, std::int64_t count, const double* values) {
    const hn::ScalableTag<double> d;
    const hn::RebindToSigned<decltype(d)> di;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto least = hn::Set(d, low);
    const auto most = hn::Set(d, high);
    auto found = hn::Zero(di);
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto x = hn::LoadU(d, values + i);
        const auto is_beyond = hn::Or(hn::Lt(x, least), hn::Gt(x, most));
        found = hn::Sub(found, hn::VecFromMask(di, hn::RebindMask(di, is_beyond))); // a mask is −1
    }
    std::int64_t sum = hn::GetLane(hn::SumOfLanes(di, found));
    for (; i < count; ++i) {
        sum += values[i] < low || values[i] > high ? 1 : 0;
    }
    return sum;
}

void map_values(const Rescale& rescale, std::int64_t count, double* values) {
    if (rescale.is_flat()) {
        std::fill_n(values, count, rescale.to_low);
        return;
    }
    const hn::ScalableTag<double> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const RescaleLine line = rescale.line();
    const auto low = hn::Set(d, line.from_low);
    const auto factor = hn::Set(d, line.factor);
    const auto offset = hn::Set(d, line.to_low);
    const auto least = hn::Set(d, line.least);
    const auto most = hn::Set(d, line.most);
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto x = hn::LoadU(d, values + i);
        const auto y = fused(d, hn::Sub(x, low), factor, offset);
        // Comparisons, not Min and Max: a NaN stays.
        const auto above = hn::IfThenElse(hn::Lt(y, least), least, y);
        hn::StoreU(hn::IfThenElse(hn::Gt(above, most), most, above), d, values + i);
    }
    for (; i < count; ++i) {
        values[i] = line(values[i]);
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(map_values);
HWY_EXPORT(count_beyond);

namespace {

/// Replaces `count` values x by their y, not yet converted; with the widest vectors there are.
void rescale_values(const Rescale& rescale, std::int64_t count, double* values) {
    HWY_DYNAMIC_DISPATCH(map_values)(rescale, count, values);
}

/// How many of `count` elements at `in`, whose values are `values`, are clipped.
std::int64_t count_clipped(const Rescale& rescale, std::int64_t count, const std::byte* in,
                           const double* values) {
    if (!rescale.invalid) {
        return HWY_DYNAMIC_DISPATCH(count_beyond)(rescale.from_low, rescale.from_high, count,
                                                  values);
    }
    return visit_element_type(rescale.in_type, [&](auto zero) {
        using T = decltype(zero);
        const InvalidTest<T> is_invalid = invalid_test<T>(*rescale.invalid);
        const T* elements = reinterpret_cast<const T*>(in);
        std::int64_t sum = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            const bool is_beyond = values[i] < rescale.from_low || values[i] > rescale.from_high;
            sum += is_beyond && !is_invalid(elements[i]) ? 1 : 0;
        }
        return sum;
    });
}

} // namespace

void rescale(CpuQueue& queue, const Rescale& rescale, std::int64_t count, const std::byte* in,
             std::byte* out, const Tally& clipped) {
    constexpr std::int64_t piece = 2048; // of float64: half of the L1 cache
    const std::int64_t in_bytes = size_of(rescale.in_type);
    const std::int64_t out_bytes = size_of(rescale.out_type);
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, (count + piece - 1) / piece, 16), [&](const Range& pieces) {
            alignas(64) std::array<double, piece> values;
            std::int64_t beyond = 0;
            for (std::int64_t i = pieces.begin(); i < pieces.end(); ++i) {
                const std::int64_t first = i * piece;
                const std::int64_t n = std::min(piece, count - first);
                load_elements(rescale.in_type, in + first * in_bytes, n, values.data());
                // The tally may take a part of the piece alone.
                const std::int64_t from = std::clamp<std::int64_t>(clipped.first - first, 0, n);
                const std::int64_t to = std::clamp<std::int64_t>(clipped.last - first, from, n);
                if (clipped.sum != nullptr && to > from) {
                    beyond += count_clipped(rescale, to - from, in + (first + from) * in_bytes,
                                            values.data() + from);
                }
                rescale_values(rescale, n, values.data());
                store_elements(rescale.out_type, values.data(), n, out + first * out_bytes);
            }
            clipped.add(beyond);
        });
    });
}

} // namespace runner
#endif
