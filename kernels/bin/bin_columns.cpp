// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/bin/bin_columns.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/bin/bin_columns.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;

/// The sums of `Lanes(d)` blocks of `factor` values side by side, added to `sum`.
template <int factor> HWY_INLINE hn::Vec<D> add_blocks(D d, const double* from, hn::Vec<D> sum) {
    if constexpr (factor == 1) {
        return hn::Add(sum, hn::LoadU(d, from));
    } else if constexpr (factor == 2) {
        hn::Vec<D> a;
        hn::Vec<D> b;
        hn::LoadInterleaved2(d, from, a, b);
        return hn::Add(hn::Add(sum, a), b);
    } else if constexpr (factor == 3) {
        hn::Vec<D> a;
        hn::Vec<D> b;
        hn::Vec<D> c;
        hn::LoadInterleaved3(d, from, a, b, c);
        return hn::Add(hn::Add(hn::Add(sum, a), b), c);
    } else {
        static_assert(factor == 4);
        hn::Vec<D> a;
        hn::Vec<D> b;
        hn::Vec<D> c;
        hn::Vec<D> e;
        hn::LoadInterleaved4(d, from, a, b, c, e);
        return hn::Add(hn::Add(hn::Add(hn::Add(sum, a), b), c), e);
    }
}

template <int factor>
HWY_NOINLINE std::int64_t add_vectors(const double* values, std::int64_t count, double* sums) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t o = 0;
    for (; o + lanes <= count; o += lanes) {
        hn::StoreU(add_blocks<factor>(d, values + o * factor, hn::LoadU(d, sums + o)), d, sums + o);
    }
    return o;
}

void add_all(const double* values, std::int64_t count, std::int64_t factor, std::int64_t channels,
             double* sums) {
    std::int64_t done = 0;
    if (factor == 1) {
        count *= channels; // each element is a block of its own
        channels = 1;
    }
    if (channels == 1) {
        switch (factor) {
        case 1: done = add_vectors<1>(values, count, sums); break;
        case 2: done = add_vectors<2>(values, count, sums); break;
        case 3: done = add_vectors<3>(values, count, sums); break;
        case 4: done = add_vectors<4>(values, count, sums); break;
        default: break;
        }
    }
    for (std::int64_t o = done; o < count; ++o) {
        for (std::int64_t i = 0; i < factor; ++i) {
            for (std::int64_t c = 0; c < channels; ++c) {
                sums[o * channels + c] += values[(o * factor + i) * channels + c];
            }
        }
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(add_all);

void add_columns(const double* values, std::int64_t count, std::int64_t factor,
                 std::int64_t channels, double* sums) {
    HWY_DYNAMIC_DISPATCH(add_all)(values, count, factor, channels, sums);
}

} // namespace runner
#endif
