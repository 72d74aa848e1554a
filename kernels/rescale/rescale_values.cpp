// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/rescale/rescale_values.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rescale/rescale_values.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/queue/fused-inl.hpp"

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void map_values(const Rescale& rescale, std::int64_t count, double* values) {
    if (rescale.is_flat()) {
        std::fill_n(values, count, rescale.to_low);
        return;
    }
    const hn::ScalableTag<double> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto low = hn::Set(d, rescale.from_low);
    const auto factor = hn::Set(d, rescale.factor());
    const auto offset = hn::Set(d, rescale.to_low);
    const auto least = hn::Set(d, rescale.least());
    const auto most = hn::Set(d, rescale.most());
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto x = hn::LoadU(d, values + i);
        const auto y = fused(d, hn::Sub(x, low), factor, offset);
        // Comparisons, not Min and Max: a NaN stays.
        const auto above = hn::IfThenElse(hn::Lt(y, least), least, y);
        hn::StoreU(hn::IfThenElse(hn::Gt(above, most), most, above), d, values + i);
    }
    for (; i < count; ++i) {
        const double y = std::fma(values[i] - rescale.from_low, rescale.factor(), rescale.to_low);
        const double above = y < rescale.least() ? rescale.least() : y;
        values[i] = above > rescale.most() ? rescale.most() : above;
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(map_values);

void rescale_values(const Rescale& rescale, std::int64_t count, double* values) {
    HWY_DYNAMIC_DISPATCH(map_values)(rescale, count, values);
}

} // namespace runner
#endif
